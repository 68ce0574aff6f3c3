"""The elements that the firmware of Cisco-style phones reads from ``SEP<MAC>.cnf.xml``.

Gathered from what CUCM exports, from the templates that come with chan_sccp and from the
usecallmanager.nz description of the file. No manufacturer publishes a schema: some firmware may
read elements that are not listed here.
"""


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
