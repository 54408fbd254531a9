import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { WarehouseRun } from '../src/warehouse/destination.ts'
import type { ObjectStorage } from './object-storage.ts'
import type { TestService, TestTenant } from './service.ts'
import { until } from './webhooks.ts'

interface ManifestFile {
  table: string
  path: string
  rows: number
  bytes: number
  sha256: string
}

export interface Manifest {
  run_id: string
  previous: string | null
  tables: Record<string, { mode: string; rows: number; files: number; schema: { name: string; type: string }[] }>
  files: ManifestFile[]
  erased_contact_ids: string[]
  range: { after: number; up_to: number }
}

export type Row = Record<string, unknown>

/** Reads what a destination has, with ClickHouse itself. */
export interface WarehouseReader {
  file(path: string): Promise<Buffer>
  manifest(path?: string): Promise<Manifest>
  /** The rows of a manifest's files of a table; each file must be as the manifest says. */
  rows(table: string, manifest: Manifest): Promise<Row[]>
}

/** @param file reads a file of the destination. */
export function createReader(
  service: Pick<TestService, 'stores'>,
  file: (path: string) => Promise<Buffer>,
): WarehouseReader {
  const manifest = async (path = 'latest.json') => JSON.parse(String(await file(path))) as Manifest
  const rows = async (table: string, { files }: Manifest) => {
    const all: Row[] = []
    for (const { path, rows, bytes, sha256 } of files.filter((each) => each.table === table)) {
      const content = await file(path)
      expect([content.length, createHash('sha256').update(content).digest('hex')]).toEqual([bytes, sha256])
      const parsed = await service.stores.clickhouse.query<Row>(
        'SELECT * FROM format(Parquet, base64Decode({content: String}))',
        { content: content.toString('base64') },
      )
      expect(parsed).toHaveLength(rows)
      all.push(...parsed)
    }
    return all
  }
  return { file, manifest, rows }
}

/** Reads a destination in a storage under the prefix `cds`. */
export function readerOfStorage(service: Pick<TestService, 'stores'>, { objects }: ObjectStorage): WarehouseReader {
  return createReader(service, async (path) => {
    const content = objects.get(`exports/cds/${path}`)
    if (!content) throw new Error(`${path} is not in the storage`)
    return content
  })
}

/** Reads a destination of the type folder. */
export function readerOfFolder(service: Pick<TestService, 'stores'>, directory: string): WarehouseReader {
  return createReader(service, (path) => readFile(join(directory, path)))
}

/** Starts a run and waits until it has ended. */
export async function runExport(tenant: TestTenant, destinationId: string, body: object = {}): Promise<WarehouseRun> {
  const { status, body: started } = await tenant.call('POST', `/v1/warehouse/${destinationId}/run`, body)
  expect([status, started.error]).toEqual([202, undefined])
  return runWhich(tenant, started.run_id, ({ status: reached }) => reached === 'succeeded')
}

/** A run, once it is as wanted. It is asked for again when its status has changed in the database. */
export async function runWhich(
  tenant: TestTenant,
  runId: string,
  isWanted: (run: WarehouseRun) => boolean,
): Promise<WarehouseRun> {
  const row = tenant.handle.db.selectFrom('warehouse_runs').select('status').where('run_id', '=', runId)
  for (;;) {
    const { body } = await tenant.call('GET', `/v1/warehouse/runs/${runId}`)
    if (isWanted(body.run)) return body.run
    await until(async () => {
      const { status } = await row.executeTakeFirstOrThrow()
      if (status === body.run.status) throw new Error(`the run is ${JSON.stringify(body.run)}`)
    })
  }
}

/** All events of a tenant, as the API returns them. */
export async function eventsOf(tenant: TestTenant): Promise<Row[]> {
  const all: Row[] = []
  for (let page = 1; ; page++) {
    const { body } = await tenant.call('GET', `/v1/events?include=system&limit=100&page=${page}`)
    all.push(...body.events)
    if (body.events.length < 100) return all
  }
}
