import type { ClientHints } from './client-hints.ts'

/** Browsers, and apps that show pages, which bowser takes for Chrome, Safari or Opera. The first that matches counts. */
const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ['Facebook', /\bFB(?:AN|AV|_IAB)\b/],
  ['Instagram', /\bInstagram\b/],
  ['TikTok', /\b(?:musical_ly|trill_|BytedanceWebview|TikTok)/],
  ['LinkedIn', /\bLinkedInApp\b/],
  ['Snapchat', /\bSnapchat\b/],
  ['Pinterest', /\bPinterest\//],
  ['Line', /\bLine\/\d/],
  ['Google Search', /\bGSA\/\d/],
  ['Yandex Browser', /\bYa(?:App_|Search|Browser)|\bYandexSearch|\bYowser\//],
  ['Oculus Browser', /\bOculusBrowser\//],
  ['Huawei Browser', /\bHuaweiBrowser\b|\bHBPC\b|com\.huawei\.hmos\.browser/],
  ['UC Browser', /\bUC ?(?:Browser|WEB|Turbo)|\bU[23]\/\d| UC AppleWebKit/],
  ['Quark', /\bQuark(?:PC)?\//],
  ['Oppo Browser', /\bOppoBrowser\b/],
  ['Phoenix Browser', /\bPHX\/\d/],
  ['Aloha Browser', /\bAloha(?:Lite)?Browser\b/],
  ['Mint Browser', /\bMint Browser\b/],
  ['Baidu Browser', /\b(?:baidubrowser|BIDUBrowser|baiduboxapp|FlyFlow)\b/i],
  ['360 Browser', /\b360(?:SE|EE|browser| ?Aphone)\b|\bQihooBrowser\b/],
  ['LG Browser', /\bLG ?Browser\b|\bNetCast\b/],
  ['VIDAA Browser', /\bOdin\/\d/],
  ['Roku Browser', /\bRoku(?:Browser)?\//],
  ['TV Bro', /\bTV Bro\b/],
  ['Opera', /\b(?:OPR|OPT|OPX|OPiOS|OMI|Opera)\b/],
]

/** Browsers that only their client hints tell from Chrome. */
const BRANDS: Readonly<Record<string, string>> = {
  Brave: 'Brave',
  'Microsoft Edge': 'Microsoft Edge',
  Opera: 'Opera',
  'Opera GX': 'Opera',
  OperaMobile: 'Opera',
  'Samsung Internet': 'Samsung Internet for Android',
  Vivaldi: 'Vivaldi',
  Yandex: 'Yandex Browser',
  YaBrowser: 'Yandex Browser',
  DuckDuckGo: 'DuckDuckGo',
  HuaweiBrowser: 'Huawei Browser',
  HeyTapBrowser: 'HeyTap Browser',
  MiuiBrowser: 'Miui',
}

/** The browser of a request, in bowser's spelling where it has one; '' if bowser knows better. */
export function browserName(userAgent: string, hints: ClientHints | null): string {
  const brand = hints?.brands.find((each) => Object.hasOwn(BRANDS, each))
  if (brand !== undefined) return BRANDS[brand] ?? ''
  return BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? ''
}
