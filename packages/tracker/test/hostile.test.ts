import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { consoleOf, useSite } from './site.ts'
import { openTab } from './tabs.ts'

type Global = { service: Record<string, (...args: unknown[]) => void> }

describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()

  const HOSTILITIES: [string, () => unknown][] = [
    [
      'prototypes are frozen',
      () => {
        for (const type of [Object, Array, Function, String, RegExp, Promise, Date, History, EventTarget]) {
          Object.freeze(type.prototype)
          Object.freeze(type)
        }
      },
    ],
    [
      'fetch throws and JSON lies',
      () => {
        window.fetch = () => {
          throw new Error('no fetch here')
        }
        JSON.stringify = () => '"no"'
        JSON.parse = () => {
          throw new Error('no JSON here')
        }
        Object.assign(Array.prototype, { toJSON: () => 'prototype.js' })
      },
    ],
    ['fetch never resolves', () => Object.assign(window, { fetch: () => new Promise(() => {}) })],
    ['fetch returns nonsense', () => Object.assign(window, { fetch: () => 'nonsense', AbortSignal: undefined })],
    [
      'storage and cookies are blocked',
      () => {
        const blocked = () => {
          throw new DOMException('blocked', 'SecurityError')
        }
        for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get: blocked })
        Object.defineProperty(Document.prototype, 'cookie', { get: blocked, set: blocked })
      },
    ],
    [
      'the device reveals nothing about itself',
      () => {
        const refuse = () => {
          throw new Error('refused')
        }
        HTMLCanvasElement.prototype.getContext = refuse as never
        Object.assign(window, { OfflineAudioContext: undefined, requestIdleCallback: undefined, Intl: undefined })
        crypto.getRandomValues = refuse as never
      },
    ],
  ]

  test.each(HOSTILITIES)('when %s, events still arrive and no error reaches the page', async (_name, before) => {
    const { url } = await site.host()
    const page = await openTab({ before })
    const problems = consoleOf(page)
    await site.open(url, { page, body: '<button>Go</button>', recovers: true })
    await page.click('button')
    const events = await site.drained(url, page)
    expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['page_view', 'button_click']))
    expect(events.find(({ event }) => event === 'button_click').data).toEqual({ text: 'Go' })
    expect(problems).toEqual([])
  })

  test('works under a strict Content-Security-Policy, without third-party requests and console messages', async () => {
    const { url } = await site.host()
    const page = await openTab()
    const problems = consoleOf(page)
    const hosts = new Set<string>()
    page.on('request', (request) => hosts.add(new URL(request.url()).origin))
    const policy = `default-src 'none'; script-src ${site.tracker}; connect-src ${site.tracker}; img-src data:`
    const head = `<meta http-equiv="Content-Security-Policy" content="${policy}">`
    site.pages[`${url}/strict`] =
      `<title>Strict</title>${head}<link rel="icon" href="data:,"><script async src="${site.tracker}/tracker.js"></script>`
    await page.goto(`${url}/strict`)
    await site.arrived(url, 'page_view')
    expect(await page.title()).toBe('Strict')
    expect(problems).toEqual([])
    hosts.delete('null')
    expect([...hosts].sort()).toEqual([site.tracker, url].sort())
  })

  test('no click, submit, route change or event causes a layout or a search of a page with 5,000 elements', async () => {
    const { url } = await site.host()
    const body = `<main role="button">${'<div><p>text <b>bold</b></p></div>'.repeat(1_700)}</main>
      <form onsubmit="return false"><input><button>S</button></form>`
    const before = () => {
      const asked: string[] = []
      Object.assign(window, { asked })
      const watch = (target: object, name: string) => {
        const found = Object.getOwnPropertyDescriptor(target, name)
        const key = found?.get ? 'get' : 'value'
        const original = found?.[key] as (...args: unknown[]) => unknown
        const spy = function (this: unknown, ...args: unknown[]) {
          asked.push(name)
          return original.apply(this, args)
        }
        Object.defineProperty(target, name, { ...found, [key]: spy })
      }
      for (const name of ['getBoundingClientRect', 'getClientRects', 'scrollTop', 'clientWidth', 'clientHeight'])
        watch(Element.prototype, name)
      for (const name of ['innerText', 'offsetWidth', 'offsetHeight', 'offsetTop', 'offsetParent'])
        watch(HTMLElement.prototype, name)
      for (const name of ['querySelectorAll', 'getElementsByTagName', 'elementsFromPoint', 'elementFromPoint'])
        watch(Document.prototype, name)
      for (const name of ['getComputedStyle', 'innerWidth', 'innerHeight', 'scrollY']) watch(window, name)
    }
    const page = await site.open(url, { body, before, recovers: true })
    await site.arrived(url, 'first_visit')
    const asked = await page.evaluate(() => {
      const { service, asked } = window as unknown as Global & { asked: string[] }
      const atStart = asked.splice(0)
      document.querySelector('b')?.click()
      document.querySelector('button')?.click()
      service.track?.('x', { a: 1 })
      history.pushState({}, '', '/next')
      return { atStart, later: asked }
    })
    const events = await site.drained(url, page)
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['button_click', 'form_submit', 'x', 'page_leave']),
    )
    expect(asked.later).toEqual([])
    // Reads the viewport once, and the iframes once for the players.
    expect([...new Set(asked.atStart)].sort()).toEqual(['getElementsByTagName', 'innerHeight', 'innerWidth'])
  })

  test('the ES module has types and works in a bundled site', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cds-tracker-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const built = spawnSync(process.execPath, ['packages/tracker/build-module.ts', directory], { encoding: 'utf8' })
    expect(built.status, built.stdout + built.stderr).toBe(0)
    expect(readFileSync(join(directory, 'index.d.ts'), 'utf8')).toContain(
      'export declare function init(options: Options',
    )
    const { url } = await site.host()
    site.files['/module.js'] = ['text/javascript', readFileSync(join(directory, 'index.js'))]
    site.pages[`${url}/module`] = `<title>Module</title><link rel="icon" href="data:,"><script type="module">
      import { init } from '/module.js'
      const service = init({ collect: '${site.tracker}/track', fingerprint: 'off', beforeSend: (event) => (event.data.module = true, event) })
      service.track('from_module', { a: 1 })
      init({ collect: '${site.tracker}/track' }).track('again')
    </script>`
    const page = await site.open(url, { quiet: true })
    await page.goto(`${url}/module`)
    const [event] = await site.arrived(url, 'from_module')
    await site.arrived(url, 'again')
    expect(event).toMatchObject({ title: 'Module', data: { a: 1, module: true } })
  })
})
