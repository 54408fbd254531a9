import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { ADDRESS_FILE } from '../packages/server/src/assembly/engines.ts'
import { readConfig } from '../packages/server/src/config.ts'
import type { Group, Size } from './options.ts'
import { anonymousVisitorIds, type Population, populationOf } from './people.ts'
import { type Running, run, start } from './processes.ts'
import type { Raw } from './raw.ts'
import { number, progress } from './report.ts'

export const SERVICE = '../packages/server/src/main.ts'
export const READY = /is running at/
/** As many as the row with the most connections has. */
const CONNECTIONS = 64

/** A tenant with its data, and the service that serves it. */
export interface Target {
  size: Size
  site: string
  raw: Raw
  population: Population
  environment: Record<string, string>
  service: Running
  /** A connection beside the service, for the bare writes. */
  postgres: pg.Pool
  /** An anonymous visitor that is not yet identified, first those with events. @throws Error if none is left. */
  nextVisitor(): string
  /** The number of such visitors. */
  visitorsLeft(): number
}

/** Loads a tenant, measures ClickHouse alone, and starts the service. */
export async function openTarget(
  size: Size,
  groups: readonly Group[],
  directory: string,
  environment: Record<string, string>,
): Promise<Target> {
  const { contacts, events, seconds } = size
  // A verified domain belongs to one tenant, and each size has its own.
  const site = `bench-${contacts}.example`
  progress(`loading ${number(contacts)} contacts and ${number(events)} events, measuring ClickHouse alone`)
  const RAW_FILE = join(directory, 'raw.json')
  const args = [...[contacts, events, seconds].map(String), groups.join(','), site, `Bench ${contacts}`]
  await run('./raw.ts', args, { ...environment, RAW_FILE })
  const raw = JSON.parse(readFileSync(RAW_FILE, 'utf8')) as Raw
  progress(`loaded in ${raw.loadSeconds.contacts.toFixed(0)} s and ${raw.loadSeconds.events.toFixed(0)} s`)
  const population = populationOf(size)
  const visitors = anonymousVisitorIds(population).reverse()
  const service = await start('./service.ts', [], environment, READY)
  const postgres = new pg.Pool({ ...addressOf(directory, environment), max: CONNECTIONS })
  return {
    size,
    site,
    raw,
    population,
    environment,
    service,
    postgres,
    nextVisitor: () => {
      const visitorId = visitors.pop()
      if (visitorId === undefined) throw new Error('There are too few anonymous visitors to identify.')
      return visitorId
    },
    visitorsLeft: () => visitors.length,
  }
}

export async function closeTarget({ service, postgres }: Target): Promise<void> {
  await postgres.end()
  await service.stop()
}

function addressOf(directory: string, environment: Record<string, string>): pg.PoolConfig {
  const { databaseUrl } = readConfig({ ...process.env, ...environment })
  if (databaseUrl !== null) return { connectionString: databaseUrl }
  return JSON.parse(readFileSync(join(directory, ADDRESS_FILE), 'utf8')) as pg.PoolConfig
}
