"""Findings of the linter, names of elements that phones know, and checks of their values."""

import re
from enum import Enum
from typing import Annotated
from xml.parsers import expat

from msgspec import Struct

from phoneprov_core.kernel.fields import schema

MOST_FINDINGS = 200
"""Maximum number of findings reported. Further ones are counted in a last finding."""


class Severity(Enum):
    """Severity of a finding."""

    ERROR = "error"
    """The phone rejects the file or applies a wrong setting."""
    WARNING = "warning"
    """The phone may behave otherwise than intended."""
    NOTE = "note"
    """For information."""


class Finding(Struct, frozen=True):
    """One finding and its position; lines and columns count from 1."""

    severity: Annotated[Severity, schema("Severity")]
    line: Annotated[int, schema("Line, from 1", minimum=1, examples=[3])]
    column: Annotated[int, schema("Column, from 1", minimum=1, examples=[5])]
    code: Annotated[str, schema("A slug for programs", examples=["unknown_element"])]
    message: Annotated[str, schema("Message without secrets")]


def has_errors(findings: tuple[Finding, ...]) -> bool:
    """Whether one of the findings is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)


class Findings:
    """Collects findings in bounded memory."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._count = 0

    def add(self, severity: Severity, line: int, column: int, code: str, message: str) -> None:
        """Add a finding. Positions may be added in any order."""
        self._count += 1
        self._found.append(Finding(severity, line, column, code, message))
        if len(self._found) > 4 * MOST_FINDINGS:
            self._drop_last()

    def sorted(self) -> tuple[Finding, ...]:
        """All findings in the order of their positions; only the first ``MOST_FINDINGS``, and
        then the number of the others at the position of the next one."""
        self._drop_last()
        found = self._found
        if self._count > MOST_FINDINGS:
            last = found[MOST_FINDINGS]
            more = f"{self._count - MOST_FINDINGS} more findings are left out from here on."
            note = Finding(Severity.NOTE, last.line, last.column, "more_findings", more)
            return (*found[:MOST_FINDINGS], note)
        return tuple(found)

    def _drop_last(self) -> None:
        self._found.sort(key=lambda one: (one.line, one.column, one.code))
        del self._found[MOST_FINDINGS + 1 :]


LIST = ".loads"
ONE_FILE = (".bin", ".sbin", ".sbn", ".zup")
"""The endings of loads that are one file: 7910, 7912, 7937, modules; 7905 and ATA."""
LISTED = (*ONE_FILE, ".sebn", ".sgn", ".sb2", ".zz", ".elf")
"""Endings of the files that a list names. A signed list may contain its own name."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


HOSTS = _names("backupProxy emergencyProxy loadServer outboundProxy processNodeName proxy")
"""Elements that hold a host name or an address, without scheme and port."""

URLS = _names(
    """
    authenticationURL directoryURL idleURL informationURL messagesURL problemReportUploadURL
    secureAuthenticationURL secureDirectoryURL secureIdleURL secureInformationURL
    secureMessagesURL secureServicesURL serviceURI servicesURL url
    """
)
"""Elements that hold an address that phones open."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT = re.compile(r"[^:\s]+:[0-9]+(?:/.*)?|\[[^\]]*\].*", re.DOTALL)
_CONTAINS = re.compile(r"[\s/\\]")
# The schemes of phones that files name: Application:Cisco/MissedCalls, Key:Directories.
_OWN_SCHEMES = _names(
    """
    application custompush device dial display edit editdial http https init key notify play
    querystring rtp rtpmrx rtpmtx rtprx rtptx softkey tel urltarget userdata vibrate video
    """
)


def host_fault(value: str) -> str | None:
    """Why a text is not a host name or an address."""
    if "://" in value or value.casefold().startswith(("sip:", "sips:", "tftp:", "http:", "https:")):
        return "contains a scheme; phones look for a host of that name"
    if _PORT.fullmatch(value):
        return "contains a port; ports have elements of their own"
    if _CONTAINS.search(value):
        return "is not the name or the address of a host"
    return None


def url_fault(value: str) -> str | None:
    """Why phones cannot open a URL."""
    scheme = _SCHEME.match(value)
    if scheme is None or _PORT.fullmatch(value):
        return "has no scheme, such as http://"
    if scheme[1].casefold() not in _OWN_SCHEMES:
        return f"has the scheme {scheme[1].casefold()[:16]}:, which phones do not open"
    if scheme[1].casefold() in {"http", "https"} and not re.match("//[^/]", value[scheme.end() :]):
        return "has no host after the scheme"
    return None


def ending_of(load: str) -> str | None:
    """The ending of a file name after the name of a load, as written, or None."""
    endings = (LIST, *LISTED)
    return next((load[-len(one) :] for one in endings if load.lower().endswith(one)), None)


def load_fault(value: str) -> str | None:
    """Why a text is not the name of a load."""
    ending = ending_of(value)
    if ending is None:
        return "contains a blank or a slash" if _CONTAINS.search(value) else None
    if ending.lower() == LIST:
        return f"ends in {ending}: phones append {LIST} and request a file {ending}{LIST}"
    return f"ends in {ending}: phones append the ending themselves"


NUMBERS = _names(
    """
    accessApps accessContacts accessFavorites accessVoicemail actionableAlert advertiseG722Codec
    allCallsOnPrimary anonymousCallBlock autoAnswerEnabled autoCallSelect autoNetDetect
    autoSelectLineEnable backlightOnWhenIncomingCall blfAudibleAlertSettingOfBusyStation
    blfAudibleAlertSettingOfIdleStation bluetooth btpbap bthfu callHoldRingback
    callLogBlfEnabled callParkMonitor callWaiting callerIdBlocking capfAuthMode ciscoCamera
    deviceSecurityMode detectCMConnectionFailure dfBit dialToneFromReleaseKey
    displayOnWhenIncomingCall displayRefreshRate dndControl ehookEnable enableCdpPcPort
    enableCdpSwPort enableHostIDCheck enableLldpPcPort enableLldpSwPort forwardingDelay
    g722CodecSupport garp handsetWidebandEnable handsetWidebandUIControl headsetWidebandEnable
    headsetWidebandUIControl hideVideoByDefault holdResumeKey homeScreen ipAddressMode
    ipMediaAddressFamilyPreference ipPreferenceModeControl joinAcrossLines
    joinAndDirectTransferPolicy kemOneColumn kpml lineMode LineKeyBarge loggingDisplay
    lowerYourVoiceAlert markCallAsSpam messageWaitingAMWI messageWaitingLampPolicy
    outOfRangeAlert pcPort peerFirmwareSharing phonePersonalization powerNegotiation
    powerOffWhenCharging powerPriority provisioning pswdPersistent recentsSoftKey recentsSoftkey
    recordingTone requireScreenLock revertPriority rollover rtcp scanningMode sdio sendKeyAction
    separateMute settingsAccess showCallHistoryForSelectedLine simplifiedNewCall
    singleButtonBarge softKeyControl softkeyControl spanToPCPort sshAccess stutterMsgWaiting
    transportLayerProtocol uriDialingDisplayPreference usb1 usb2 videoCapability videoRtcp
    voiceVlanAccess webAccess webAdmin webProtocol wifi
    """
)
"""Read as numbers: text in them gives the phone wrong settings, or makes it request the file
repeatedly."""

WORDS = _names(
    """
    allowAutoConfig alwaysUsePrimeLine alwaysUsePrimeLineVoiceMail autoAnswerAltBehavior
    autoAnswerOverride autoCallPickupEnable backgroundImageAccess callStats callerName
    callerNumber cnfJoinEnabled dadEnable dialedNumber disableLocalSpeedDialConfig
    disableSpeaker disableSpeakerAndHeadset echoMultiEnable enableGroupListen enableMuteFeature
    enableVad encrConfig fullConfig isSecure localCfwdEnable natEnabled natReceivedProcessing
    poundEndOfDial redirectEnable redirectedNumber registerWithProxy remoteCcEnable
    remotePartyID retainForwardInformation rfc2543Hold semiAttendedTransfer sharedLine
    tftpDefault transferOnhookEnabled userModifiable
    """
)
"""Read as ``true`` or ``false``."""

REPEATED = _names("addOnModule capf line member ntp phoneService")
"""May occur more than once in the same place."""

_OTHERS = _names(
    """
    MissedCallLoggingOption PushToTalkURL RingLocale T302Timer TLSResumptionTimer TVS
    URIDialingDisplayPreference abbreviatedDialURI addOnModules address addresses
    adminConfigurableRinger adminPassword appButtonPriority appButtonTimer
    appInstallFromAndroidMarket applicationURL authMethod authName authPassword
    authenticationURL autoAnswer autoAnswerMode autoAnswerTimer backlightIdleTimeout
    backlightOnDuration backlightOnTime backupProxy backupProxyPort bluetoothProfile busyTrigger
    callForwardURI callManager callManagerGroup callPickupGroupURI callPickupListURI
    callPickupURI capfList cdpEnable certHash certHash1 certHash2 certHash3 commonConfig
    commonProfile connectionMonitorDuration contact credentials dateTemplate dateTimeSetting
    daysBacklightNotActive daysDisplayNotActive defaultWallpaperFile description desktopClient
    device deviceLine devicePool deviceProtocol deviceType dialTemplate dialToneSetting
    directoryURL displayIdleTimeout displayName displayOnDuration displayOnTime dndCallAlert
    dndReminderTimer dscpAudioForTelepresence dscpAudioForVideo dscpForAudio dscpForCm2Dvce
    dscpForExecutiveOverrideAudio dscpForExecutiveOverrideVideo dscpForFlashAudio
    dscpForFlashOverrideAudio dscpForFlashOverrideVideo dscpForFlashVideo dscpForImmediateAudio
    dscpForImmediateVideo dscpForPriorityAudio dscpForPriorityVideo dscpForSCCPPhoneConfig
    dscpForSCCPPhoneServices dscpForTelepresence dscpVideo dtmfAvtPayload dtmfCnfCode
    dtmfDbLevel dtmfExclusiveHoldCode dtmfHoldCode dtmfOutofBand dtmfResumeCode dtmfTxfCode
    dtmfdn emergencyProxy emergencyProxyPort enableCiscoUcmAppClient enterpriseConfig
    ethernetPhonePort executiveOverridePreemptable externalNumberMask failConnectTime featureID
    featureLabel featureOptionMask featurePolicyFile fileSystemVerificationEnable fipsMode
    forwardCallInfoDisplay handoffdn hashAlg ice idleTimeout idleURL inactiveLoadInformation
    incomingCallToastTimer informationURL instantMessaging ipAddr1 ipAddr2 ipAddr3 ivrdn
    keepAlive langCode listen lldpAssetId loadInformation loadServer logServer maxNumCalls
    maxRedirects meetMeServiceURI members messagesNumber messagesURL mgcpPorts minimumRingVolume
    mlppDomainId mlppIndicationStatus mobility moreKeyReversionTimer mtu name nameV6 natAddress
    networkLocale networkLocaleInfo ntpMode ntps offhookToFirstDigitTimer olsonTimeZone
    organizationTopLevelDomain outboundProxy outboundProxyPort ownerId phoneBookWebAccess
    phoneLabel phonePassword phonePort phoneServices portalDefaultServer port port1 port2 port3
    ports preemption preferredCodec presenceServerPri presenceServerType problemReportUploadURL
    processNodeName proxy proxyServerURL recordingOption recordingToneDuration
    recordingToneLocalVolume recordingToneRemoteVolume restrictDataRates retryInterval
    ringSettingActive ringSettingBusyStationPolicy ringSettingIdle ringSettingIdleStationPolicy
    secureAuthenticationURL secureDirectoryURL secureIdleURL secureInformationURL
    secureMessagesURL secureServicesURL secureUDSUsersAccessURL securedSipPort serviceURI
    servicesURL silentPeriodBetweenCallWaitingBursts sipCallFeatures sipInviteRetx sipIpAddr1
    sipIpAddr2 sipIpAddr3 sipIpV6Addr1 sipLines sipPort sipPort1 sipPort2 sipPort3 sipProfile
    sipProxies sipRetx sipStack softKeyFile specialNumbers speedDialIndex speedDialNumber srstInfo
    srstOption sshPassword sshPort sshUserId startMediaPort startVideoPort stopMediaPort
    stopVideoPort timeZone timerInviteExpires timerKeepAliveExpires timerRegisterDelta
    timerRegisterExpires timerSubscribeDelta timerSubscribeExpires timerT1 timerT2 traceFlag
    tzdata tzolsonversion tzupdater uid unlockSettingsSequence url url1 url2 url3 usbClasses
    userId userInfo userLocale vendor vendorConfig version versionStamp voipControlPort vpnGroup
    vxcVpnOption winCharSet WlanProfile1 WlanProfile2 WlanProfile3 WlanProfile4
    """
)
KNOWN = NUMBERS | WORDS | REPEATED | _OTHERS
SPELLINGS = {name.casefold(): name for name in sorted(KNOWN)}
"""The known name for each name in lower case."""

# Firmware, locale, date and time and the addresses of services are read when a phone starts
# completely; lines, keys and speed dials also after a restart (Cisco's CME documentation).
_LOAD = "loadInformation"
_NEED_RESET = frozenset(
    {
        _LOAD, "userLocale", "networkLocale", "networkLocaleInfo", "dateTimeSetting",
        "authenticationURL", "directoryURL", "idleURL", "informationURL", "messagesURL",
        "proxyServerURL", "servicesURL",
        "secureAuthenticationURL", "secureDirectoryURL", "secureIdleURL", "secureInformationURL",
        "secureMessagesURL", "secureServicesURL",
    }
)  # fmt: skip


def needing_reset(old: str, new: str) -> tuple[str, ...]:
    """The names of the elements that differ and take effect after a reset only, sorted. Both texts
    are without a fault (see ``well_formed``). The cost is linear."""
    before, after = _values(old), _values(new)
    return tuple(
        sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    )


def _values(xml: str) -> dict[str, list[str]]:
    """The elements that need a reset: per name, their content in document order."""
    found: dict[str, list[str]] = {}
    content: list[str] = []
    inside = ""
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside, depth
        if not inside:
            # Multi-model files add a number: loadInformation307.
            known = _LOAD if name.startswith(_LOAD) else name
            if known not in _NEED_RESET:
                return
            inside = known
        content.append(f"<{name} {sorted(attributes.items())}>")
        depth += 1

    def text(data: str) -> None:
        if inside:
            content.append(data)

    def end(_name: str) -> None:
        nonlocal inside, depth
        if not inside:
            return
        depth -= 1
        if not depth:
            found.setdefault(inside, []).append(" ".join("".join(content).split()))
            content.clear()
            inside = ""

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.CharacterDataHandler = text
    parser.EndElementHandler = end
    parser.Parse(xml.encode(), True)
    return found
