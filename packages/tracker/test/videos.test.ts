import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { useSite } from './site.ts'
import { openTab } from './tabs.ts'

/** Two seconds of silence: a `<video>` can play audio only. */
function silence(): Buffer {
  const samples = 16_000
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(8_000, 24)
  header.writeUInt32LE(8_000, 28)
  header.writeUInt16LE(1, 32)
  header.writeUInt16LE(8, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples, 40)
  return Buffer.concat([header, Buffer.alloc(samples, 128)])
}

/** Fake players that implement the providers' messaging protocols, controlled by the test. */
const PLAYERS = {
  youtube: `<script>
    let parentOrigin
    addEventListener('message', ({ data, origin }) => {
      if (JSON.parse(data).event === 'listening') { parentOrigin = origin; tell({ event: 'initialDelivery', info: { duration: 100, currentTime: 0, videoData: { video_id: 'abc', title: 'Tour' } } }) }
    })
    const tell = (message) => parent.postMessage(JSON.stringify(message), parentOrigin)
    window.steer = (playerState, currentTime) => { tell({ event: 'onStateChange', info: playerState }); tell({ event: 'infoDelivery', info: { playerState, currentTime } }) }
  </script>`,
  vimeo: `<script>
    const wanted = new Set()
    addEventListener('message', ({ data }) => {
      const { method, value } = JSON.parse(data)
      if (method === 'ping') parent.postMessage({ method: 'ping' }, '*')
      if (method === 'addEventListener') wanted.add(value)
    })
    window.steer = (event, seconds) => wanted.has(event) && parent.postMessage(JSON.stringify({ event, data: { seconds, duration: 100, percent: seconds / 100 } }), '*')
    window.isReady = () => wanted.size === 4
  </script>`,
}

describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()
  const videos = (url: string) =>
    site
      .events(url)
      .filter(({ event }) => event.startsWith('video_'))
      .map(({ event, data }) => (event === 'video_milestone' ? `${event} ${data.milestone}` : event))

  test('a <video>: play, pause, each milestone once, complete, and no pause at the end', async () => {
    site.files['/silence.wav'] = ['audio/wav', silence()]
    const { url } = await site.host()
    const body = `<video id="tour" class="v" title="The tour" src="/silence.wav?token=t" muted width="300" height="200"></video>
      <div data-service-ignore><video id="ignored" src="/silence.wav" muted></video></div><audio id="sound" src="/silence.wav" muted></audio>`
    const page = await site.open(url, { body })
    const play = (id: string) => page.evaluate((id) => (document.getElementById(id) as HTMLVideoElement).play(), id)
    await page.waitForFunction(() => (document.getElementById('tour') as HTMLVideoElement).readyState > 0)
    // In one call, because the video lasts two seconds.
    await page.evaluate(async () => {
      const tour = document.getElementById('tour') as HTMLVideoElement
      await tour.play()
      tour.pause()
    })
    await site.arrived(url, 'video_pause')
    await play('tour')
    await play('ignored')
    await play('sound')
    await site.arrived(url, 'video_complete')
    await page.waitForFunction(() => (document.getElementById('ignored') as HTMLVideoElement).ended)
    await play('tour')
    await site.arrived(url, 'video_complete', 2)
    await site.drained(url, page)
    expect(videos(url).sort()).toEqual(
      [
        ...['video_play', 'video_pause', 'video_play', 'video_complete', 'video_play', 'video_complete'],
        ...['video_milestone 25', 'video_milestone 50', 'video_milestone 75', 'video_milestone 100'],
      ].sort(),
    )
    const [first] = site.events(url, 'video_play')
    expect(first.data).toEqual({
      provider: 'html5',
      video_url: `${url}/silence.wav?token=redacted`,
      video_title: 'The tour',
      id: 'tour',
      class: 'v',
      duration: 2,
      position: 0,
    })
  })

  test.each([
    {
      provider: 'youtube' as const,
      src: 'https://www.youtube.com/embed/abc?enablejsapi=1',
      title: 'Tour',
      steps: [
        [1, 0],
        [1, 30],
        [3, 31],
        [1, 52],
        [2, 60],
        [1, 60],
        [1, 80],
        [0, 100],
      ],
    },
    {
      provider: 'vimeo' as const,
      src: 'https://player.vimeo.com/video/1',
      title: 'The film',
      steps: [
        ['play', 0],
        ['timeupdate', 30],
        ['timeupdate', 52],
        ['pause', 60],
        ['play', 60],
        ['timeupdate', 80],
        ['ended', 100],
      ],
    },
  ])("an embedded $provider player, without loading the provider's script", async ({ provider, src, title, steps }) => {
    const { url } = await site.host()
    const page = await openTab()
    const foreign: string[] = []
    await page.route(/youtube|vimeo/, (route) => {
      foreign.push(route.request().url())
      return route.fulfill({ contentType: 'text/html', body: PLAYERS[provider] })
    })
    await site.open(url, {
      page,
      body: `<iframe id="player" title="The film" src="${src}"></iframe>`,
    })
    const frame = page.frames().find((candidate) => candidate.url() === src)
    const isListening = provider === 'vimeo' ? 'isReady()' : 'parentOrigin !== undefined'
    await frame?.waitForFunction(isListening)
    for (const [event, seconds] of steps) await frame?.evaluate(`steer(${JSON.stringify(event)}, ${seconds})`)
    await site.arrived(url, 'video_complete')
    await site.drained(url, page)
    expect(videos(url)).toEqual([
      ...['video_play', 'video_milestone 25', 'video_milestone 50', 'video_pause', 'video_play'],
      ...['video_milestone 75', 'video_complete', 'video_milestone 100'],
    ])
    expect(site.events(url, 'video_pause')[0].data).toMatchObject({
      provider,
      video_url: src,
      video_title: title,
      id: 'player',
      duration: 100,
    })
    expect(foreign).toEqual([src])
  })

  test('video_conversion: an email form shown over a video; the address itself is not sent', async () => {
    const { url } = await site.host()
    site.files['/silence.wav'] = ['audio/wav', silence()]
    const overlay = 'position:absolute;left:60px;top:60px;width:150px;height:60px'
    const body = `<script>addEventListener('submit', (event) => event.preventDefault())</script>
      <div style="position:relative"><video id="tour" src="/silence.wav" style="width:300px;height:200px;background:#000"></video>
      <form id="capture" style="${overlay}"><input type="email" id="mail"><button id="go">Go on</button></form></div>
      <form id="newsletter"><input type="email" id="mail2"><button id="go2">Subscribe</button></form>`
    const page: Page = await site.open(url, { body })
    await page.click('#go')
    await page.fill('#mail', 'ada@example.com')
    await page.click('#go')
    await page.fill('#mail2', 'ada@example.com')
    await page.click('#go2')
    const events = await site.drained(url, page)
    const conversions = events.filter(({ event }) => event === 'video_conversion')
    expect(conversions.map(({ data }) => data)).toEqual([
      expect.objectContaining({ provider: 'html5', id: 'tour', formId: 'capture', video_url: `${url}/silence.wav` }),
    ])
    expect(events.filter(({ event }) => event === 'form_submit')).toHaveLength(3)
    expect(JSON.stringify(site.requests(url))).not.toContain('ada@example.com')
  })

  const emails = (url: string) => site.events(url).flatMap(({ lead }) => lead ?? [])
  const OVER =
    '<div style="position:relative"><video id="tour" src="/silence.wav" style="width:300px;height:200px"></video>'
  const stay = `<script>addEventListener('submit', (event) => event.preventDefault())</script>`
  const form = (id: string, attributes = '') =>
    `<form id="${id}" ${attributes} novalidate style="position:absolute;left:60px;top:60px"><input type="email"><button>Go on</button></form>`

  test.each([
    { where: 'the form', tag: '', outer: '', inner: 'data-service-capture' },
    { where: 'its player', tag: '', outer: 'data-service-capture', inner: '' },
    { where: 'the script', tag: 'data-video-leads="on"', outer: '', inner: '' },
  ])('an email entered over a video identifies the visitor where $where says so', async ({ tag, outer, inner }) => {
    const { url, tenant } = await site.host()
    site.files['/silence.wav'] = ['audio/wav', silence()]
    const page = await site.open(url, {
      tag,
      body: `${stay}<div ${outer}>${OVER}${form('capture', inner)}</div></div>`,
    })
    await page.fill('#capture input', 'no address')
    await page.click('#capture button')
    await page.fill('#capture input', 'ada@example.com')
    await page.click('#capture button')
    await site.drained(url, page)
    expect(emails(url)).toEqual(['ada@example.com'])
    expect(site.events(url, 'video_conversion').map(({ data }) => data.formId)).toEqual(['capture'])
    const { contacts } = (await tenant.call('GET', '/v1/contacts?search=ada@example.com')).body
    expect(contacts).toHaveLength(1)
    const history = await tenant.call(
      'GET',
      `/v1/events?event_type=video_conversion&contact_id=${contacts[0].contact_id}`,
    )
    expect(history.body.events).toHaveLength(1)
    expect(JSON.stringify(history.body.events[0].data)).not.toContain('ada@example.com')
  })

  test("Wistia's player says what was entered in its form; without the site's word the address stays in the page", async () => {
    const { url } = await site.host()
    const players =
      '<wistia-player id="open" data-service-capture></wistia-player><wistia-player id="closed"></wistia-player>'
    const page = await site.open(url, { body: players })
    await page.evaluate(() => {
      for (const [id, email] of [
        ['open', 'ada@example.com'],
        ['open', 'no address'],
        ['closed', 'grace@example.com'],
      ]) {
        const player = document.getElementById(id as string) as HTMLElement
        Object.assign(player, { mediaId: 'abc123', duration: 100, currentTime: 12 })
        player.dispatchEvent(new CustomEvent('conversion', { detail: { type: 'mid-roll-email', email } }))
      }
    })
    await site.drained(url, page)
    expect(emails(url)).toEqual(['ada@example.com'])
    expect(site.events(url, 'video_conversion').map(({ data }) => data)).toEqual([
      expect.objectContaining({ provider: 'wistia', video_url: 'abc123', id: 'open', duration: 100, position: 12 }),
      expect.objectContaining({ provider: 'wistia', id: 'closed' }),
    ])
    expect(JSON.stringify(site.requests(url))).not.toContain('grace@example.com')
  })

  test('nothing is recorded or identified by frames that lie, or when the site excludes or drops the event', async () => {
    const { url } = await site.host()
    const liar = 'https://player.vimeo.com.liar.example/video/1'
    const page = await openTab()
    await page.route(/liar\.example/, (route) => route.fulfill({ contentType: 'text/html', body: '<p>' }))
    await site.open(url, {
      page,
      tag: 'data-video-leads="on" data-before-send="check"',
      head: `<script>check = (event) => event.event === 'video_conversion' ? null : event</script>`,
      body: `<iframe srcdoc="<p>"></iframe><iframe src="${liar}"></iframe><wistia-player id="dropped"></wistia-player>`,
    })
    const [, ...liars] = page.frames()
    expect(liars.map((frame) => frame.url()).sort()).toEqual(['about:srcdoc', liar])
    const lie = () => {
      const detail = { email: 'mallory@example.com' }
      for (let n = 0; n < 10_000; n++)
        parent.postMessage({ event: 'conversion', method: 'conversion', data: detail, detail }, '*')
      for (const lie of [
        'conversion',
        '{',
        null,
        7,
        { event: null, info: detail },
        JSON.stringify({ event: 'conversion', data: detail }),
      ])
        parent.postMessage(lie, '*')
    }
    for (const frame of liars) await frame.evaluate(lie)
    await page.evaluate(() => {
      const player = document.getElementById('dropped') as HTMLElement
      Object.assign(player, { mediaId: 'abc123', duration: 100, currentTime: 12 })
      const detail = { email: 'ada@example.com' }
      for (const target of [player, document.body, window])
        target.dispatchEvent(new CustomEvent('conversion', { detail }))
      player.dispatchEvent(new CustomEvent('conversion'))
    })
    const events = await site.drained(url, page)
    expect(events.filter(({ event }) => event.startsWith('video_'))).toEqual([])
    expect(site.identifications(url)).toEqual([])
  })
})
