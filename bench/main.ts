/**
 * `npm run bench` prints one table: the service's performance, its limit measured in the same run, the ratio, and the
 * growth with the data. See options.ts for the options.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { measureAgents } from './agents.ts'
import { measureComputed } from './computed.ts'
import { measureConnectors } from './connectors.ts'
import { measureCrowd } from './crowd.ts'
import { measureFairness } from './fairness.ts'
import { measureGrouping } from './grouping.ts'
import { checkData, measureIdentification } from './identification.ts'
import { measureImports } from './imports.ts'
import { measureInsights } from './insights.ts'
import { PORT } from './load.ts'
import { chosenGroups, type Group, SIZE, type Size, SMALL_SIZE } from './options.ts'
import { memoryOf, start } from './processes.ts'
import { measureLists, measureReads } from './reads.ts'
import { keepAsSmall, number, print, progress, report } from './report.ts'
import { measureSdks } from './sdks.ts'
import { closeTarget, openTarget, READY, SERVICE, type Target } from './target.ts'
import { measureDeliveries } from './webhooks.ts'
import { measureContacts, measureServerEvents, measureSingleWrites, measureSources, measureTrack } from './writes.ts'

/** The groups that are measured on one tenant, in this order. */
const OF_TENANT: Partial<Record<Group, (target: Target) => Promise<void>>> = {
  reads: measureReads,
  lists: measureLists,
  grouping: measureGrouping,
  insights: measureInsights,
  track: measureTrack,
  'server-events': measureServerEvents,
  sdks: measureSdks,
  sources: measureSources,
  identify: measureIdentification,
  single: measureSingleWrites,
  crowd: measureCrowd,
  import: measureImports,
  contacts: measureContacts,
  agents: measureAgents,
  computed: measureComputed,
}
/** Groups that do not depend on the amount of data. */
const WITHOUT_GROWTH: readonly Group[] = ['agents', 'computed']

const chosen = chosenGroups()
const directory = mkdtempSync(join(tmpdir(), 'cds-bench-'))
// Root runs PostgreSQL as another user, who must be able to access the directory.
chmodSync(directory, 0o755)
const environment = {
  CDS_DATA_DIR: directory,
  PORT: String(PORT),
  HOST: '127.0.0.1',
  CDS_RATE_LIMITS: 'off',
}
try {
  await measure()
  print()
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  if (chosen.includes('start')) await measureStart()
  const ofTenant = chosen.filter((group) => OF_TENANT[group])
  const growing = ofTenant.filter((group) => !WITHOUT_GROWTH.includes(group))
  if (SMALL_SIZE && growing.length > 0) {
    await measureTenant(SMALL_SIZE, growing)
    keepAsSmall()
  }
  if (ofTenant.length > 0) await measureTenant(SIZE, ofTenant)
  if (chosen.includes('fairness')) await attempt('fairness', () => measureFairness(directory, environment))
  if (chosen.includes('connectors')) await attempt('connectors', () => measureConnectors(directory, environment))
  if (chosen.includes('webhooks')) await attempt('webhooks', () => measureDeliveries(directory, environment))
}

/** A failed group becomes a row with its error, so that the results of the others are not lost. */
async function attempt(group: Group, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    console.error(error)
    process.exitCode = 1
    report({ what: group, measured: `failed: ${String(error)}`, limit: '', ratio: null, aim: '' })
  }
}

async function measureTenant(size: Size, groups: readonly Group[]): Promise<void> {
  const target = await openTarget(size, groups, directory, environment)
  try {
    await checkData(target)
    for (const group of groups) await attempt(group, async () => OF_TENANT[group]?.(target))
  } finally {
    await closeTarget(target)
  }
}

async function measureStart(): Promise<void> {
  progress('starting')
  const cold = await start(SERVICE, [], environment, READY)
  await cold.stop()
  const warm = await start(SERVICE, [], environment, READY)
  await sleep(3_000)
  const memory = memoryOf(warm.process.pid ?? 0)
  await warm.stop()
  const rows = [
    { what: 'start from nothing', measured: `${(cold.startMs / 1000).toFixed(1)} s`, aim: '5 s' },
    { what: 'warm start', measured: `${(warm.startMs / 1000).toFixed(1)} s`, aim: '1.5 s' },
    { what: 'idle memory, all processes', measured: memory === null ? '?' : `${number(memory)} MB`, aim: '400 MB' },
  ]
  for (const row of rows) report({ ...row, limit: '', ratio: null })
}
