import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { importEvents } from '../src/event-imports/import-events.ts'
import { countRows } from '../src/journal/batches.ts'
import { openPlacesLater } from '../src/platform/places.ts'
import { commandSession } from './command-session.ts'
import { openDirectory } from './process.ts'
import type { TestService, TestTenant } from './service.ts'

type Settings = Parameters<typeof importEvents>[2]
type Dependencies = Parameters<typeof importEvents>[1]

/** Files of events in a directory of their own, and their imports into a tenant. */
export interface EventFiles {
  write(name: string, contents: string | Buffer): Promise<string>
  import(file: string, settings?: Partial<Settings>, changed?: Partial<Dependencies>): ReturnType<typeof importEvents>
  messages: string[]
  remove(): Promise<void>
}

export async function openEventFiles(service: TestService, tenant: TestTenant): Promise<EventFiles> {
  const directory = await openDirectory()
  const session = commandSession(service)
  const placeOf = openPlacesLater(null)
  const messages: string[] = []
  return {
    messages,
    write: async (name, contents) => {
      const file = join(directory, name)
      await writeFile(file, contents)
      return file
    },
    import: (file, settings = {}, changed = {}) =>
      importEvents(
        session.tenant(tenant.id),
        {
          ...session.writing(),
          groupCommit: session.groupCommit,
          placeOf,
          journalRows: async () => (await countRows(service.stores.database)).waiting,
          ...changed,
        },
        {
          file,
          format: null,
          errorsFile: `${file}.errors.jsonl`,
          again: false,
          interrupted: new AbortController().signal,
          onProgress: (message) => messages.push(message),
          ...settings,
        },
      ),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Objects as a file of JSON lines. */
export function jsonLines(...lines: readonly unknown[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
}
