/**
 * `npm run bench` prints one table: what the service does, what bounds it measured in the same run, and the ratio.
 * `-- --quick` does the same on little data in under a minute; `-- --fairness` and `-- --import`
 * measure those rows alone.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { measureAgents } from './agents.ts'
import { measureFairness } from './fairness.ts'
import { measureImport } from './imports.ts'
import type { Load } from './load.ts'
import { memoryOf, run, start } from './processes.ts'
import type { Raw } from './raw.ts'
import { measureGrouping, readRates, reportReads } from './reads.ts'
import { PORT, print, progress, rows, SIZE, SMALL_SIZE } from './report.ts'
import { measureDeliveries } from './webhooks.ts'
import { measureIdentification, measureSegments, measureSources, measureTrack } from './writes.ts'

const SERVICE = '../packages/server/src/main.ts'
const READY = /is running at/

const directory = mkdtempSync(join(tmpdir(), 'cds-bench-'))
// Root runs PostgreSQL as another user, who must be able to get there.
chmodSync(directory, 0o755)
const environment = { CDS_DATA_DIR: directory, PORT, HOST: '127.0.0.1', CDS_RATE_LIMITS: 'off', CDS_LOG_LEVEL: 'warn' }
try {
  if (process.argv.includes('--fairness')) await measureFairness(directory, environment)
  else if (process.argv.includes('--import')) await measureImport(directory, environment)
  else await measure()
  print()
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const cold = await start(SERVICE, [], environment, READY)
  await cold.stop()
  const warm = await start(SERVICE, [], environment, READY)
  await sleep(3_000)
  const memory = memoryOf(warm.process.pid ?? 0)
  await warm.stop()
  rows.push({
    what: 'start from nothing',
    measured: `${(cold.startMs / 1000).toFixed(1)} s`,
    limit: '',
    ratio: null,
    aim: '5 s',
  })
  rows.push({
    what: 'warm start',
    measured: `${(warm.startMs / 1000).toFixed(1)} s`,
    limit: '',
    ratio: null,
    aim: '1.5 s',
  })
  rows.push({
    what: 'idle memory, all processes',
    measured: `${memory ?? '?'} MB`,
    limit: '',
    ratio: null,
    aim: '400 MB',
  })

  const small = SMALL_SIZE ? await measureSmall(SMALL_SIZE) : null
  const raw = await loadAndMeasureEngines(SIZE)
  await measureImport(directory, environment)
  const service = await start(SERVICE, [], environment, READY)
  try {
    reportReads(raw, await readRates(raw, SIZE.seconds), small)
    await measureGrouping(raw)
    await measureTrack(raw)
    await measureSources(raw)
    await measureIdentification(raw)
    await measureSegments(raw, environment)
    await measureAgents(raw, environment, service)
  } finally {
    await service.stop()
  }
  await measureFairness(directory, environment)
  await measureDeliveries(directory, environment)
}

/** The same reads of a small tenant, before there is a large one. */
async function measureSmall(size: typeof SIZE): Promise<Record<string, Load>> {
  const raw = await loadAndMeasureEngines(size)
  const service = await start(SERVICE, [], environment, READY)
  try {
    return await readRates(raw, size.seconds)
  } finally {
    await service.stop()
  }
}

/** In a process of its own: the embedded ClickHouse belongs to one at a time. */
async function loadAndMeasureEngines({ contacts, events, seconds }: typeof SIZE): Promise<Raw> {
  progress(`loading ${contacts} contacts and ${events} events, measuring the engines alone`)
  const rawFile = join(directory, 'raw.json')
  await run('./raw.ts', [contacts, events, seconds].map(String), { ...environment, RAW_FILE: rawFile })
  const raw = JSON.parse(readFileSync(rawFile, 'utf8')) as Raw
  progress(`loaded in ${raw.loadSeconds.contacts.toFixed(0)} s and ${raw.loadSeconds.events.toFixed(0)} s`)
  return raw
}
