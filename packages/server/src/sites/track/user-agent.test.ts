import { expect, test } from 'vitest'
import { hintsOf } from './client-hints.ts'
import { parseUserAgent } from './user-agent.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const android = (device: string, rest: string) => `Mozilla/5.0 (Linux; Android ${device}) ${WEBKIT} ${rest}`
const ios = (device: string, rest: string) =>
  `Mozilla/5.0 (${device} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ${rest}`
const windows = (rest: string) => `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} ${rest}`

test.each([
  // Computers.
  [windows('Chrome/141.0.0.0 Safari/537.36'), 'Chrome', 'Windows', 'desktop'],
  [windows('Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0'), 'Microsoft Edge', 'Windows', 'desktop'],
  [windows('Chrome/138.0.0.0 Safari/537.36 OPR/122.0.0.0'), 'Opera', 'Windows', 'desktop'],
  [windows('Chrome/138.0.0.0 YaBrowser/25.8.0.0 Safari/537.36'), 'Yandex Browser', 'Windows', 'desktop'],
  [windows('Chrome/134.0.0.0 Safari/537.36 Vivaldi/7.3'), 'Vivaldi', 'Windows', 'desktop'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox', 'Windows', 'desktop'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
    'Safari',
    'macOS',
    'desktop',
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`,
    'Chrome',
    'Chrome OS',
    'desktop',
  ],
  [android('9; ASUS Chromebook Flip C434', 'Chrome/120.0.0.0 Safari/537.36'), 'Chrome', 'Android', 'desktop'],
  // Phones.
  [android('10; K', 'Chrome/141.0.0.0 Mobile Safari/537.36'), 'Chrome', 'Android', 'mobile'],
  [
    android('14; SM-S918B', 'SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36'),
    'Samsung Internet for Android',
    'Android',
    'mobile',
  ],
  [
    android('12; arm_64', 'Chrome/138.0.0.0 YaBrowser/25.8.1.77.00 SA/3 Mobile Safari/537.36'),
    'Yandex Browser',
    'Android',
    'mobile',
  ],
  [
    android('13; M2102J20SG', 'Version/4.0 Chrome/130.0.0.0 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.30'),
    'Miui',
    'Android',
    'mobile',
  ],
  [
    android('12; NOH-NX9', 'Chrome/114.0.0.0 HuaweiBrowser/15.0.4 Mobile Safari/537.36'),
    'Huawei Browser',
    'Android',
    'mobile',
  ],
  [android('13; CPH2449', 'Chrome/138.0.0.0 Mobile Safari/537.36 OPR/90.0.0.0'), 'Opera', 'Android', 'mobile'],
  [
    android('11; V2027', 'Version/4.0 Chrome/100.0.0.0 UCBrowser/13.8.2 Mobile Safari/537.36'),
    'UC Browser',
    'Android',
    'mobile',
  ],
  ['Mozilla/5.0 (Android 14; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0', 'Firefox', 'Android', 'mobile'],
  [ios('iPhone; CPU iPhone OS 18_6', 'Version/18.6 Mobile/15E148 Safari/604.1'), 'Safari', 'iOS', 'mobile'],
  [ios('iPhone; CPU iPhone OS 18_6', 'CriOS/141.0.0.0 Mobile/15E148 Safari/604.1'), 'Chrome', 'iOS', 'mobile'],
  [
    ios('iPhone; CPU iPhone OS 18_6', 'EdgiOS/141.0.0.0 Version/18.0 Mobile/15E148 Safari/604.1'),
    'Microsoft Edge',
    'iOS',
    'mobile',
  ],
  // Phones that leave Mobile out, and old ones.
  [android('12; SM-G991B', 'Chrome/106.0.0.0 Safari/537.36'), 'Chrome', 'Android', 'mobile'],
  ['Opera/9.80 (J2ME/MIDP; Opera Mini/9.80/28.2725; U; en) Presto/2.8.119 Version/11.10', 'Opera', '', 'mobile'],
  // Apps that show pages.
  [
    ios('iPhone; CPU iPhone OS 18_6', 'Mobile/15E148 [FBAN/FBIOS;FBAV/530.0.0;FBDV/iPhone15,2]'),
    'Facebook',
    'iOS',
    'mobile',
  ],
  [ios('iPhone; CPU iPhone OS 18_6', 'Mobile/15E148 Instagram 400.0.0.0'), 'Instagram', 'iOS', 'mobile'],
  [
    android('14; Pixel 8; wv', 'Version/4.0 Chrome/141.0.0.0 Mobile Safari/537.36 Line/15.1.0'),
    'Line',
    'Android',
    'mobile',
  ],
  [ios('iPhone; CPU iPhone OS 18_6', 'Mobile/15E148 LinkedInApp/9.30'), 'LinkedIn', 'iOS', 'mobile'],
  [android('14; SM-A546B; wv', 'Version/4.0 Chrome/141.0.0.0 Mobile Safari/537.36'), 'Chrome', 'Android', 'mobile'],
  // Tablets.
  [ios('iPad; CPU OS 16_7', 'Version/16.6 Mobile/15E148 Safari/604.1'), 'Safari', 'iOS', 'tablet'],
  [android('14; SM-X910', 'Chrome/141.0.0.0 Safari/537.36'), 'Chrome', 'Android', 'tablet'],
  [android('12; Lenovo TB-X606F', 'Chrome/120.0.0.0 Mobile Safari/537.36'), 'Chrome', 'Android', 'tablet'],
  [android('9; KFMAWI', 'Silk/130.0.0 like Chrome/130.0.0.0 Safari/537.36'), 'Amazon Silk', 'Android', 'tablet'],
  [android('10; AGS3-L09', 'Chrome/100.0.0.0 Safari/537.36'), 'Chrome', 'Android', 'tablet'],
  // Televisions, consoles, and what is worn.
  [
    'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/108.0.5359.211 Safari/537.36 WebAppManager',
    'WebOS Browser',
    '',
    'tv',
  ],
  [
    'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.5) AppleWebKit/537.36 (KHTML, like Gecko) 85.0.4183.93/6.5 TV Safari/537.36',
    '',
    '',
    'tv',
  ],
  [android('9; AFTKA', 'Silk/120.0.0 like Chrome/120.0.0.0 Safari/537.36'), 'Amazon Silk', 'Android', 'tv'],
  [android('12; BRAVIA 4K VH2', 'Chrome/120.0.0.0 Safari/537.36'), 'Chrome', 'Android', 'tv'],
  [android('11; MIBOX4', 'Chrome/110.0.0.0 Mobile Safari/537.36'), 'Chrome', 'Android', 'tv'],
  [
    'Mozilla/5.0 (X11; Linux armv7l) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/88.0.4324.182 Odin/88.4324.2.10 Safari/537.36 Model/Hisense VIDAA/6.0',
    'VIDAA Browser',
    'Linux',
    'tv',
  ],
  [
    'Mozilla/5.0 (PlayStation; PlayStation 5/8.00) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.4 Safari/605.1.15',
    'Safari',
    '',
    'console',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox Series X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Edg/120.0.0.0',
    'Microsoft Edge',
    '',
    'console',
  ],
  [
    'Mozilla/5.0 (Nintendo Switch; WebApplet) AppleWebKit/609.4 (KHTML, like Gecko) NF/6.0.2.22.5 NintendoBrowser/5.1.0.23519',
    '',
    '',
    'console',
  ],
  [
    `Mozilla/5.0 (X11; Linux x86_64; Quest 3) ${WEBKIT} OculusBrowser/38.0 SamsungBrowser/4.0 Chrome/138.0.0.0 VR Safari/537.36`,
    'Oculus Browser',
    'Linux',
    'wearable',
  ],
])('%s', (userAgent, browser, os, deviceType) => {
  const parsed = parseUserAgent(userAgent)
  expect({ ...parsed, browser: browser && parsed.browser, os: os && parsed.os }).toEqual({
    browser,
    os,
    deviceType,
    isBot: false,
  })
})

test.each([
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'Googlebot'],
  [
    android(
      '6.0.1; Nexus 5X Build/MMB29P',
      'Chrome/141.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    ),
    'Googlebot',
  ],
])('a robot is one, whatever device it names: %s', (userAgent, browser) => {
  expect(parseUserAgent(userAgent)).toMatchObject({ browser, deviceType: 'bot', isBot: true })
})

const CHROMIUM = windows('Chrome/141.0.0.0 Safari/537.36')
const FROZEN = android('10; K', 'Chrome/141.0.0.0 Safari/537.36')

test.each([
  [CHROMIUM, '"Brave";v="141", "Not?A_Brand";v="8", "Chromium";v="141"', '?0', 'Brave', 'desktop'],
  [CHROMIUM, '"Chromium";v="141", "Google Chrome";v="141", "Not A(Brand";v="24"', '?0', 'Chrome', 'desktop'],
  [CHROMIUM, '"Not;A=Brand";v="8", "Chromium";v="138", "Opera";v="122"', '?0', 'Opera', 'desktop'],
  [CHROMIUM, '"Not\\"A\\\\Brand";v="99", "YaBrowser";v="25.8", "Chromium";v="138"', '?0', 'Yandex Browser', 'desktop'],
  [FROZEN, '"Samsung Internet";v="28.0", "Chromium";v="130"', '?1', 'Samsung Internet for Android', 'mobile'],
  [FROZEN, '"Chromium";v="141"', '?0', 'Chrome', 'tablet'],
  [CHROMIUM, 'not a list', '', 'Chrome', 'desktop'],
  [CHROMIUM, '"constructor";v="1", "__proto__";v="1"', '?0', 'Chrome', 'desktop'],
])('client hints say what the User-Agent does not: %s with %s', (userAgent, brands, mobile, browser, deviceType) => {
  const hints = hintsOf({ 'sec-ch-ua': brands, 'sec-ch-ua-mobile': mobile, 'sec-ch-ua-platform': '"Windows"' })
  expect(parseUserAgent(userAgent, hints)).toMatchObject({ browser, deviceType })
  // The same User-Agent without hints, or with others, is not mixed up with it.
  expect(parseUserAgent(userAgent).browser).toBe('Chrome')
})

test('nothing is known of nothing', () => {
  expect(hintsOf({})).toBeNull()
  for (const header of [undefined, '']) {
    expect(parseUserAgent(header)).toEqual({ browser: '', os: '', deviceType: '', isBot: false })
  }
  expect(parseUserAgent('curl/8.5.0').deviceType).toBe('')
})
