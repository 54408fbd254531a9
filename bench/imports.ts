import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { createTenant } from '../packages/server/src/access/tenants.ts'
import { openSession } from '../packages/server/src/cli/session.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { writeEvents } from './event-file.ts'
import { IS_QUICK } from './options.ts'
import { run } from './processes.ts'
import { number, progress, rate, report } from './report.ts'
import type { Target } from './target.ts'

/** The columns of the file, and the number of distinct values of each. */
const COLUMNS = Object.entries({
  firstname: 700,
  lastname: 9_000,
  company: 5_000,
  jobtitle: 40,
  state: 50,
  country: 40,
  city: 300,
  industry: 40,
  website: 5_000,
})
const ROWS_A_PART = 1_000

const EVENTS = IS_QUICK ? 100_000 : 1_000_000

export async function measureImports(target: Target): Promise<void> {
  await measureImport(target)
  await measureEventImport(target)
}

/** `cdsctl import events` beside the service, compared with ClickHouse alone, which inserts the same rows. */
async function measureEventImport({ environment, raw }: Target): Promise<void> {
  progress(`import of ${number(EVENTS)} events`)
  const [tenantId = ''] = await createTenants(environment, ['Imported events'])
  const file = join(environment.CDS_DATA_DIR ?? '', 'import-events.jsonl')
  await writeEvents(file, EVENTS)
  const seconds = await timed(() =>
    run('../packages/server/src/cli.ts', ['import', 'events', file, '--tenant', tenantId], environment),
  )
  report({
    what: 'import of events, cdsctl beside the service',
    measured: `${rate(EVENTS / seconds)}/s, ${number(EVENTS)} in ${seconds.toFixed(1)} s`,
    limit: `${rate(raw.eventsPerSecond)}/s, ClickHouse alone`,
    ratio: EVENTS / seconds / raw.eventsPerSecond,
    aim: '0.5',
    cost: seconds / EVENTS,
  })
}

/** `cdsctl import contacts` beside the service, compared with COPY of the same contacts into the same table. */
async function measureImport(target: Target): Promise<void> {
  const { size, environment } = target
  const rows = size.contacts
  progress(`COPY of ${number(rows)} contacts`)
  const [copied = '', imported = ''] = await createTenants(environment, [`Copied ${rows}`, `Imported ${rows}`])
  const copySeconds = await timed(await prepareCopy(target, copied, rows))
  progress(`import of ${number(rows)} contacts`)
  const file = join(environment.CDS_DATA_DIR ?? '', `import-${rows}.csv`)
  await writeCsv(file, rows)
  const seconds = await timed(() =>
    run('../packages/server/src/cli.ts', ['import', 'contacts', file, '--tenant', imported], environment),
  )
  report({
    what: 'import of contacts, cdsctl beside the service',
    measured: `${rate(rows / seconds)} rows/s, ${number(rows)} in ${seconds.toFixed(1)} s`,
    limit: `${rate(rows / copySeconds)} rows/s COPY, ${copySeconds.toFixed(1)} s`,
    ratio: copySeconds / seconds,
    aim: '0.50',
    cost: seconds / rows,
  })
}

async function createTenants(environment: Record<string, string>, names: string[]): Promise<string[]> {
  const session = await openSession(readConfig({ ...process.env, ...environment }), { mayCreate: true })
  try {
    return await Promise.all(
      names.map((name) => createTenant(session.stores, { name }, { kind: 'command_line' }, new Date())),
    )
  } finally {
    await session.close()
  }
}

/** A UUIDv7 like the service's: new ones land at the right edge of an index. */
const MOMENT_SQL = "lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint + n / 1000), 12, '0')"
const ID_SQL = `(substr(${MOMENT_SQL}, 1, 8) || '-' || substr(${MOMENT_SQL}, 9) || '-7' || substr(gen_random_uuid()::text, 16))::uuid`

/** Has PostgreSQL write a file with the columns that an import stores. @returns the COPY from it. */
async function prepareCopy({ postgres }: Target, tenantId: string, rows: number): Promise<() => Promise<unknown>> {
  const found = await postgres.query<{ data_directory: string }>('SHOW data_directory')
  const file = join(found.rows[0]?.data_directory ?? '', `bench-${rows}.copy`)
  const pairs = COLUMNS.map(([name, values]) => `'${name}', '${name} ' || n % ${values}`).join(', ')
  const provenance = COLUMNS.map(([name]) => `'${name}', jsonb_build_object('source', 'import', 'updated_at', now())`)
  await postgres.query(`COPY (
    SELECT '${tenantId}'::uuid, ${ID_SQL}, 'person' || n || '@import.example', jsonb_build_object(${pairs}),
      jsonb_build_object(${provenance.join(', ')}), 'import', now(), now(), now()
    FROM generate_series(1, ${rows}) AS n) TO '${file}'`)
  return () =>
    postgres.query(`COPY contacts (tenant_id, contact_id, email, properties, properties_provenance, creation_source,
      first_seen_at, created_at, updated_at) FROM '${file}'`)
}

async function writeCsv(file: string, rows: number): Promise<void> {
  const stream = createWriteStream(file)
  stream.write(`email,${COLUMNS.map(([name]) => name).join(',')}\n`)
  for (let from = 1; from <= rows; from += ROWS_A_PART) {
    const lines = Array.from({ length: Math.min(ROWS_A_PART, rows - from + 1) }, (_, index) => {
      const n = from + index
      const cells = COLUMNS.map(([name, values]) => `${name} ${n % values}`)
      return `person${n}@import.example,${cells.join(',')}\n`
    })
    if (!stream.write(lines.join(''))) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'finish')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}
