import { rmSync } from 'node:fs'
import { connectClickHouse } from '../src/platform/clickhouse/connect.ts'
import { EVENTS_TABLE } from '../src/events/table.ts'
import { createTableStatements, earlierVersion } from '../src/platform/clickhouse/tables.ts'
import { EMPTY_RECORD, serializeEvents, serializeRows } from '../src/journal/event-record.ts'
import { newId } from '../src/platform/ids.ts'
import { campaignOf } from '../src/journal/campaign.ts'
const path = '/tmp/whence/ch3'; rmSync(path, { recursive: true, force: true })
const log: any = { warn() {}, info() {}, error: console.error, debug() {} }
const ch = await connectClickHouse({ path }, log, 100000)
const COUNTRIES = ['DE', 'FR', 'US', 'IT', '']
const row = (n: number) => { const url = `https://shop.example/products/${n % 500}` + (n % 4 ? '' : `?utm_source=${['news', 'ads', 'google'][n % 3]}&utm_medium=email&utm_campaign=c${n % 20}`)
  return { ...EMPTY_RECORD, tenant_id: '00000000-0000-0000-0000-000000000001', event_id: newId(), event: 'page_view', timestamp: Date.now(), received_at: Date.now(), visitor_id: newId(), session_id: newId(), owner_id: newId(), url, url_path: '/x', domain: 'shop.example', title: 'Product', browser: 'Chrome', os: 'Windows', device_type: 'desktop', user_agent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36', data: JSON.stringify({ title: 'Product', path: '/x', n }), ...campaignOf(url), country: COUNTRIES[n % 5] ?? '' } }
const strip = ({ utm_source, utm_medium, utm_campaign, utm_term, utm_content, country, region, city, ...r }: any) => r
const make = async (old: boolean) => { await ch.command('DROP TABLE IF EXISTS events SYNC'); for (const s of createTableStatements(old ? earlierVersion(EVENTS_TABLE) : EVENTS_TABLE, null)) await ch.command(s); await ch.command('SYSTEM STOP MERGES events') }
const all: Record<string, number[]> = {}
for (let round = 0; round < 5; round++) for (const old of [true, false]) {
  await make(old)
  for (const size of [1, 1000, 10000]) {
    for (let i = 0; i < (size === 10000 ? 6 : 20); i++) {
      const rows = Array.from({ length: size }, (_, n) => row(n)); const body = old ? serializeRows(rows.map(strip)) : serializeEvents(rows as any)
      const c0 = process.cpuUsage(); await ch.insert('events', 'JSONCompactEachRowWithNames', body, newId()); const c = process.cpuUsage(c0)
      ;(all[`${size} ${old ? 'old' : 'new'}`] ??= []).push((c.user + c.system) / 1000)
    }
  }
}
for (const [k, v] of Object.entries(all)) { v.sort((a, b) => a - b); console.log(k, 'cpu ms min', v[0]!.toFixed(1), 'quartile', v[v.length >> 2]!.toFixed(1), 'median', v[v.length >> 1]!.toFixed(1)) }
await ch.close()
