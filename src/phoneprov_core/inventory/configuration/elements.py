"""The elements of a configuration: a walk over them, and the names that phones know."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from msgspec import Struct

_DEEPEST_PATH = 8


class Element(Struct, eq=False):
    """One element. ``line`` and ``column`` (both from 1) are the position of its start tag.

    ``start``, ``content`` and ``end`` are byte offsets: of the start tag, of the first byte after
    it, and of the end tag (for an empty-element tag: of the first byte after the element).

    ``inside`` counts, by name, the direct children that have ended so far.
    """

    name: str
    attributes: dict[str, str]
    parent: "Element | None"
    depth: int
    start: int
    line: int
    column: int
    content: int = -1
    end: int = -1
    pieces: list[str] = []
    inside: dict[str, int] = {}

    def __repr__(self) -> str:
        # Attributes and text may be secrets.
        return f"<{self.name}> at line {self.line}"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("name", self.name), ("line", self.line)]

    @property
    def text(self) -> str:
        """The text directly in it, so far."""
        return "".join(self.pieces)

    @property
    def path(self) -> str:
        """The names from the root to this element, separated by slashes. Empty below a depth of 8,
        where no firmware reads anything: the cost of a path must not grow with the depth."""
        if self.depth > _DEEPEST_PATH:
            return ""
        names = [self.name]
        above = self.parent
        while above is not None:
            names.append(above.name)
            above = above.parent
        return "/".join(reversed(names))


def walk(
    content: bytes,
    on_end: Callable[[Element], None],
    on_other: Callable[[int], None] = lambda _start: None,
) -> None:
    """Call ``on_end`` for each element when it ends, the innermost first, and ``on_other`` with
    the byte offset of each comment, CDATA section and processing instruction.

    No tree is built. ``content`` is UTF-8 without a fault (``well_formed.fault_in``); for other
    content expat's own errors are raised.
    """
    parser = expat.ParserCreate("UTF-8")
    opened: list[Element] = []
    unplaced: Element | None = None

    def place() -> None:
        # The first event after a start tag is where that tag ends.
        nonlocal unplaced
        if unplaced is not None:
            unplaced.content = parser.CurrentByteIndex
            unplaced = None

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal unplaced
        place()
        unplaced = Element(
            name,
            attributes,
            opened[-1] if opened else None,
            len(opened) + 1,
            parser.CurrentByteIndex,
            parser.CurrentLineNumber,
            parser.CurrentColumnNumber + 1,
        )
        opened.append(unplaced)

    def end(name: str) -> None:
        place()
        element = opened.pop()
        element.end = parser.CurrentByteIndex
        on_end(element)
        if opened:
            inside = opened[-1].inside
            inside[name] = inside.get(name, 0) + 1

    def text(data: str) -> None:
        place()
        opened[-1].pieces.append(data)

    def other(*_: object) -> None:
        place()
        on_other(parser.CurrentByteIndex)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.CommentHandler = other
    parser.ProcessingInstructionHandler = other
    parser.StartCdataSectionHandler = other
    parser.Parse(content, True)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


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


REPLY_LIMIT = 64 * 1024
"""Maximum number of bytes in a phone's reply."""


@dataclass
class ReplyElement:
    """An element: its depth, 0 for the root, and the pieces of the text that it holds itself."""

    depth: int
    name: str
    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text without surrounding blanks."""
        return "".join(self.pieces).strip()


def elements_of(body: bytes) -> list[ReplyElement]:
    """Every element in order, the root first. Decoded as ISO 8859-1 regardless of its declaration:
    the relevant text is ASCII, and this decoding never fails. Raises ``ValueError`` if the reply is
    not well-formed, has a document type, or is longer than ``REPLY_LIMIT``."""
    if len(body) > REPLY_LIMIT:
        raise ValueError
    found: list[ReplyElement] = []
    open_: list[ReplyElement] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        element = ReplyElement(len(open_), name, attributes)
        found.append(element)
        open_.append(element)

    def end(_name: str) -> None:
        open_.pop()

    def text(characters: str) -> None:
        open_[-1].pieces.append(characters)

    def refuse(*_declaration: object) -> None:
        raise ValueError

    parser = expat.ParserCreate("iso-8859-1")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(body.removeprefix(b"\xef\xbb\xbf").strip(), True)
    except expat.ExpatError:
        raise ValueError from None
    return found
