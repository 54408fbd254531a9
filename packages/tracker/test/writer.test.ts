import { describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { consoleOf, dataOf, useSite } from './site.ts'
import { openTab } from './tabs.ts'

type Global = { service: Record<string, (...args: unknown[]) => void> }

/** Values that are too large, and those that call the tracker while it reads them. */
describe.skipIf(!HAS_BROWSER)('in a real browser', () => {
  const site = useSite()

  test('an identification that is too large keeps its id and the traits that fit, and the console names the others', async () => {
    const { url, tenant } = await site.host()
    const page = await openTab()
    const said = consoleOf(page)
    site.pages[`${url}/`] = site.html({})
    await page.goto(url)
    await site.arrived(url, 'page_view')
    await page.evaluate(() => {
      const { service } = window as unknown as Global
      const nodes = Array.from({ length: 150 }, (): Record<string, unknown> => ({}))
      for (const node of nodes) for (const [index, other] of nodes.entries()) node[`to${index}`] = other
      const text = 'x'.repeat(30_000)
      service.identify?.('state', { state: nodes[0], email: 'state@shop.example', plan: 'pro' })
      service.identify?.(
        'texts',
        { a: text, b: text, c: text, d: text, e: text, f: text, g: text, email: 'texts@shop.example' },
        { userHash: 'abc' },
      )
      service.identify?.('list', { list: Array(1e6).fill('x'), email: 'list@shop.example' })
      service.identify?.({ email: 'first@shop.example', state: nodes[0] })
      service.identify?.('cyclic', nodes[0])
    })
    await site.drained(url, page)
    const sent = site.identifications(url)
    expect(sent.map(({ identify: { external_user_id: id, traits } }) => [id, traits?.email])).toEqual([
      ['state', 'state@shop.example'],
      ['texts', 'texts@shop.example'],
      ['list', 'list@shop.example'],
      [undefined, 'first@shop.example'],
      ['cyclic', undefined],
    ])
    expect(Object.keys(sent[0].identify.traits)).toEqual(['email', 'plan'])
    expect(Object.keys(sent[1].identify.traits)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'email'])
    expect(sent[1].user_hash).toBe('abc')
    for (const name of ['state', 'g', 'list'])
      expect(said.filter((line) => line === `service: ${name} is too large`)).toHaveLength(1)
    const { body } = await tenant.call('GET', '/v1/contacts?search=state@shop.example')
    expect(body.contacts[0].properties).toMatchObject({ email: 'state@shop.example', plan: 'pro' })
  })

  test.each([
    ['is missing', () => Object.assign(console, { warn: undefined })],
    [
      'throws',
      () => {
        console.warn = () => {
          throw new Error('never seen')
        }
      },
    ],
    [
      'calls the tracker',
      () => {
        console.warn = (text: string) => {
          const { service } = window as unknown as Global
          service.track?.('warned', { text, view: window })
          service[`no${text}`]?.()
          ;(service as unknown as unknown[]).push([`no ${text}`])
        }
      },
    ],
  ])('where console.warn %s, nothing is lost', async (_name, before) => {
    const { url } = await site.host()
    const page = await site.open(url, { before })
    await page.evaluate(() => {
      const { service } = window as unknown as Global
      service.identify?.(null)
      service.identify?.('u1', { email: 'ann@shop.example', view: window })
      service.track?.('kept', { view: window, ok: 1 })
      service.track?.(Symbol('event'))
      service.reset?.()
      service.identify?.('x'.repeat(201), { email: 'bob@shop.example' })
    })
    const data = dataOf(await site.drained(url, page))
    expect(data.kept).toEqual({ ok: 1 })
    expect(site.identifications(url).map(({ identify }) => identify)).toEqual([
      { external_user_id: 'u1', traits: { email: 'ann@shop.example' } },
      { traits: { email: 'bob@shop.example' } },
    ])
  })

  test('an event with much that is not data leaves the console open for what comes after', async () => {
    const { url } = await site.host()
    const page = await site.open(url)
    const said = await page.evaluate(() => {
      const said: string[] = []
      console.warn = (line: string) => said.push(line)
      const { service } = window as unknown as Global & { service: { push(command: unknown[]): void } }
      const functions = (from: number) =>
        Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`f${from + n}`, () => 1]))
      service.track?.('functions', functions(0))
      service.track?.('functions', functions(0))
      for (let from = 1; from < 100; from++) service.track?.('more', { [`one${from}`]: () => 1 })
      service.track?.('two', { view: window })
      service.identify?.(null)
      service.push(['logout'])
      service.configure?.({ collect: 'http://[' })
      service.track?.('nowhere')
      service.configure?.({ collect: '' })
      return said
    })
    await site.drained(url, page)
    for (const part of [
      'f0 is not data',
      'f59 is not data',
      'view is not data',
      'names nobody',
      'logout is not a command',
    ])
      expect(said.filter((line) => line.includes(part))).toHaveLength(1)
  })

  test('the console names each thing once, and not more than 1,000 things', async () => {
    const { url } = await site.host()
    const page = await site.open(url)
    const said = await page.evaluate(() => {
      const said: string[] = []
      console.warn = (line: string) => said.push(line)
      const { service } = window as unknown as Global
      const functions = Object.fromEntries(Array.from({ length: 1_200 }, (_, n) => [`f${n}`, () => 1]))
      for (let times = 0; times < 3; times++) service.track?.('functions', functions)
      return said
    })
    await site.drained(url, page)
    expect(said).toHaveLength(1_000)
    expect(new Set(said).size).toBe(1_000)
  })

  /** Objects that all refer to each other, each with a property whose getter calls the tracker. */
  const GRAPH = `(size, name, act) => {
    const nodes = Array.from({ length: size }, () => ({}))
    for (const node of nodes) {
      nodes.forEach((other, index) => { node['to' + index] = other })
      Object.defineProperty(node, name, { enumerable: name !== 'toJSON', get() { window.calls++; act(node) } })
    }
    return nodes[0]
  }`

  test('getters, toJSON and traits that call the tracker are read once each, and nothing is lost', async () => {
    const { url } = await site.host()
    const page = await site.open(url)
    const cases: [name: string, code: string, times: number][] = [
      ['getters', "service.track('getters', { graph: graph(6, 'own', () => service.track('inner')), ok: 1 })", 6],
      ['toJSON', "service.track('toJSON', { graph: graph(12, 'toJSON', () => service.track('inner')), ok: 1 })", 12],
      [
        'traits',
        "service.identify('u1', { graph: graph(6, 'own', () => service.track('inner')) }); service.track('traits', { ok: 1 })",
        6,
      ],
    ]
    for (const [name, code, times] of cases) {
      const before = site.names(url, 'inner').length
      const calls = await page.evaluate(`window.calls = 0; { const graph = ${GRAPH}; ${code} }; calls`)
      const data = dataOf(await site.drained(url, page))
      expect(calls, name).toBe(times)
      expect(data[name], name).toMatchObject({ ok: 1 })
      expect(site.names(url, 'inner').length - before, name).toBe(times)
    }
  })

  test('calls to the tracker while it reads a value cost no more than one large event', async () => {
    const { url } = await site.host()
    const page = await site.open(url)
    const cases: Record<string, string> = {
      'getters that track their own object':
        "service.track('outer', { graph: graph(12, 'own', (node) => service.track('inner', node)) })",
      'toJSON that identifies':
        "service.track('outer', { graph: graph(12, 'toJSON', (node) => service.identify('u1', { node })) })",
      'traits that identify':
        "service.identify('u2', { graph: graph(12, 'own', (node) => service.identify('u1', { node })) }); service.track('outer')",
      'a proxy that tracks itself': `const proxy = new Proxy({ a: 1 }, { get(target, key) { calls++; service.track('inner', proxy); return target[key] } })
        service.track('outer', { proxy })`,
      'beforeSend that tracks': `service.configure({ beforeSend(event) { calls++; service.track('inner'); return event } })
        service.track('outer')
        service.configure({ beforeSend: null })`,
    }
    for (const [name, code] of Object.entries(cases)) {
      const before = site.names(url, 'outer').length
      const calls = await page.evaluate(`window.calls = 0; { const graph = ${GRAPH}; ${code} }; calls`)
      await site.drained(url, page)
      expect(site.names(url, 'outer').length - before, name).toBe(1)
      // Calls within calls share the budget of the outermost. Else twelve objects would block the page for minutes.
      expect(calls, name).toBeLessThan(2_000)
    }
    expect(site.requests(url).map(({ status }) => status)).not.toContain(400)
  })

  test('a revoked proxy is left out alone, and keys cost as much as values', async () => {
    const { url } = await site.host()
    const page = await site.open(url)
    const said = consoleOf(page)
    const reads = await page.evaluate(() => {
      const { service } = window as unknown as Global
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      service.track?.('revoked', proxy)
      service.identify?.('u1', proxy)
      service.identify?.('u2', ['no', 'traits'])
      service.track?.(proxy)
      service.identify?.(proxy, { email: 'ann@shop.example' })
      let reads = 0
      const undefineds: Record<string, unknown> = {}
      for (let index = 0; index < 2e4; index++)
        Object.defineProperty(undefineds, `k${index}`, {
          enumerable: true,
          get() {
            reads++
          },
        })
      service.track?.('undefineds', undefineds)
      service.track?.('key', { ok: 1, ['k'.repeat(1e7)]: () => 1 })
      service.track?.('few', { none: undefined, ok: 1 })
      return reads
    })
    const data = dataOf(await site.drained(url, page))
    expect(data).toMatchObject({
      revoked: {},
      undefineds: { truncated: true },
      key: { truncated: true },
      few: { ok: 1 },
    })
    expect(data.few).toEqual({ ok: 1 })
    expect(reads).toBeLessThan(8_000)
    expect(site.identifications(url).map(({ identify }) => identify)).toEqual([
      { external_user_id: 'u1' },
      { external_user_id: 'u2' },
      { traits: { email: 'ann@shop.example' } },
    ])
    for (const line of ['value is not data', 'traits is not data', 'event is not a string', 'id is not a string'])
      expect(said).toContain(`service: ${line}`)
    expect(Math.max(...said.map((line) => line.length))).toBeLessThanOrEqual(500)
  })
})
