import type { ClientHints } from './client-hints.ts'

/* What kind of device a User-Agent names: by the words that makers and standards use, and by their families of model numbers. */

const anyOf = (...parts: string[]) => new RegExp(parts.join('|'), 'i')

const CONSOLE = anyOf(
  'PlayStation',
  '\\bXbox',
  '\\bNintendo',
  '\\bPSP\\b',
  '\\bOUYA\\b',
  '\\bGamepad\\b',
  '\\bSteam Deck\\b',
)

const TV = anyOf(
  // Words.
  'Smart[-_ ]?TV|HbbTV|Android ?TV|Google ?TV|Apple ?TV|NetTV|IPTV|[ _-]TV(?![a-z])|\\bTV[ _-]|\\b[A-Z]?ATV\\b|\\bDTV|\\bSTB\\b|CE-HTML|\\bUHD|\\bOLED\\b|\\bQLED\\b|\\bE?LED[-_ ]?\\d\\d|[ _]Shell[ _][A-Z]{2}|\\bstreamer\\b',
  // Platforms.
  'Web0S|webOS\\.TV|NetCast|\\bMaple\\b(?![ -]I)|VIDAA|\\bRoku|\\bCrKey|Chromecast|Viera|AQUOS-?TV|AQUOSBrowser|\\bTiVo|\\bVewd|Seraphic|\\bSRAF\\/|Espial|\\bOMI\\/|NETRANGE|SmartHub|Zeasn|LaTivu|Foxxum|Freebox|Humax|Formuler|\\bTizen(?=.*\\bSMART)|WebAppManager|WhaleTV|WHALEOS',
  // Families of models.
  '\\bAFT[A-Z]{1,8}\\d{0,3}\\b|\\bBRAVIA|\\bMi ?TV|\\bMi ?Box|\\bNexus Player|\\bSHIELD Android|\\bADT-\\d|\\bYNDX-\\d|\\bKDL?-\\d\\d|\\bHTY[-_]?\\d|\\bTD[- ]?TV|\\bSTV[-_]|\\bPOLAR(?:LINE)?[-_ ]|\\bNEXON[ _]|\\bMystery Shell',
  // Boxes to put under one.
  '(?:TV|NET|OPEN|SMART|ANDROID|[ _-])BOX(?:\\b|[-_])|\\bBOX[ _-]|iconBIT|\\bUGOOS|\\bZIDOO|\\bRombica|\\bMinix|\\bNEO-[XU]|\\bMecool|\\bVontar|\\bVorke|\\bYundoo|\\bBeelink|\\bMagicsee|\\bMXQ|\\bX9[26]\\b|\\bX96|\\bH96|\\bT95|\\bTX[239]\\b|\\bA95X|\\bMX9|\\bHK1\\b|\\bRKM |\\bS[89][01][25]X?\\b|\\bRK3\\d{3}|\\bp2[01][12]\\b|\\bOpenbox\\b|\\bQ[Bb]ox',
)

const WEARABLE = anyOf(
  'Watch\\b',
  '\\bWear OS\\b',
  '\\bOculusBrowser\\b',
  '\\bQuest(?: \\d)?\\)',
  '\\bPico Neo',
  '\\bSM-R\\d{3}',
  '\\bMoto 360\\b',
)

const CAR = anyOf('\\bTesla\\/', '\\bQtCarBrowser\\b', '\\bCarPad', '\\bCarPlay', '\\bHead ?Unit\\b')

const TABLET = anyOf(
  // Words.
  '\\biPad|Tablet(?! PC)|\\bPlayBook|\\bKindle\\b|\\bXoom\\b|\\bTouchPad\\b|\\bSilk(?!.*Mobile)|(?:MediaPad|MatePad|IdeaPad|IdeaTab|FonePad|MagicPad)|(?:\\b|_)(?:Tab|Pad|Slate)(?:[ _-]?[A-Z]?\\d|\\b|_)',
  // Samsung, Amazon, Lenovo, Huawei and Honor.
  '\\bSM-[TPX]\\d{3}|\\bGT-P\\d{4}|\\bGT-N[58]\\d{3}|\\bSHW-M\\d80|\\bSGH-[IT]\\d97',
  '\\bKF[A-Z]{2,5}\\b',
  '\\bTB[- ]?[0-9X][0-9A-Z]{2,}|\\bYT\\d?-[XJ0-9]|\\bYB1-|\\bLenovo (?:A[1357][0-9]00|B[68]0|S6000)|\\bYoga (?:Tablet|Tab|Book)',
  '\\b(?:AGS|BAH|SCM|SCMR|MRX|WGR|BTV|CMR|JDN|KOB|SHT|VRD|DBY|AGR|AGM|BZK|BZA|BZT|GOT|HEY|GDI|S8|T1)\\d?-[A-Z0-9]{2,4}\\b',
  // Asus, Acer, LG, Google, Dell, HP, Oppo, Nokia, Xiaomi.
  '\\bME\\d{3}|\\bTF\\d{3}|\\bK0[01][0-9A-Z]\\b|\\bP0[012][0-9A-Z]\\b|\\bTransformer|\\b[AB][13]-[A-Z]?\\d{2}|\\bIconia|\\bLG-V[K]?\\d{3}|\\bNexus (?:7|9|10)\\b|\\bPixel C\\b|\\bVenue \\d|\\bOPD\\d|\\bNokia T\\d\\d|\\bRMP\\d{4}|\\b2\\d{3}[A-Z0-9]{3,4}R[PN]\\d{2}',
  // Makers of tablets in the main.
  '\\bDigma (?:Plane|CITI|Optima|Platina)|\\b(?:Plane|CITI|Optima)[ _]\\d|\\bPM[TP]\\d{4}|\\bIRBIS[ _]?T|\\bTZ\\d{2,3}\\b|\\bARCHOS (?:[789]\\d|1\\d\\d)|\\bTeclast|\\bCHUWI|\\bHi(?:8|9|10|Pad)\\b|Alldocube|\\biPlay[ _]?\\d|\\bRCT\\d|\\bQTA[QS]|\\bMID[-_]?\\d|\\bNomi_C\\d|\\bMFC\\d|\\bT-?Pad\\b',
)

/** Phones whose browsers may leave `Mobile` out, and those that predate it. */
const PHONE = anyOf(
  'Mobile|\\bPhone\\b|\\biPod\\b|Opera M(?:ini|obi)|\\bMIDP\\b|\\bCLDC\\b|\\bWAP\\b|\\bMAUI\\b|\\bUP\\.(?:Browser|Link)|\\bObigo|\\bTeleca|\\bSymbian|\\bSeries[346]0|\\bBREW\\b|\\bKAIOS|\\bPalm|\\bDoCoMo|\\bJ2ME',
  '\\bNokia(?! T\\d)|\\bSonyEricsson|\\bBlackBerry|\\bSAMSUNG-|\\bLGE?-|\\bLM-[A-Z]\\d|\\bMOT-|\\bmoto ?[a-z]\\b|\\bXT\\d{4}',
  '\\bSM-[ACFGJMNSW]\\d{3}|\\bGT-[IS]\\d{4}|\\bSHV-E|\\bSC-\\d\\d|\\bPixel \\d|\\bvivo\\b|\\bV[12]\\d{3}[A-Z]*\\b|\\bONEPLUS|\\bCPH\\d{4}|\\bRMX\\d{4}|\\bP[A-Z]{3}\\d0\\b|\\bRedmi\\b|\\bmeizu|\\bBlade\\b|\\bitel\\b|\\bTECNO\\b|\\bEVERCOSS|\\bMITO\\b|\\bHTC\\b',
)

/** Computers with Android. */
const LAPTOP = anyOf(
  'Chromebook',
  '\\bInspiron',
  '\\bLatitude',
  '\\bVostro',
  '\\bTravelMate',
  '\\bAspire',
  '\\bEliteBook',
  '\\bProBook',
  '\\bThinkPad',
  '\\bSatellite',
  '\\bLIFEBOOK',
  '\\bRemix Mini',
  '\\bNUC\\d',
)

const COMPUTER = anyOf(
  '\\bWindows',
  '\\bWin(?:32|64|9[58]|NT)',
  '\\bMacintosh',
  '\\bMac OS',
  '\\bMac_PowerPC',
  '\\bX11\\b',
  '\\bLinux\\b',
  '\\bCrOS\\b',
  '\\b(?:Open|Free|Net)BSD',
  '\\bAmiga',
  '\\bDarwin\\b',
)

/**
 * The kind of device: `desktop`, `mobile`, `tablet`, `tv`, `console`, `wearable` or `car`; '' if nothing says. An iPad that asks
 * for a computer's pages sends the User-Agent of a Mac, and counts as one.
 */
export function deviceTypeOf(userAgent: string, hints: ClientHints | null): string {
  if (CONSOLE.test(userAgent)) return 'console'
  if (TV.test(userAgent)) return 'tv'
  if (WEARABLE.test(userAgent)) return 'wearable'
  if (CAR.test(userAgent)) return 'car'
  if (LAPTOP.test(userAgent)) return 'desktop'
  if (TABLET.test(userAgent)) return 'tablet'
  if (hints?.isMobile || PHONE.test(userAgent)) return 'mobile'
  if (/\bAndroid\b/.test(userAgent)) return 'tablet'
  return COMPUTER.test(userAgent) ? 'desktop' : ''
}
