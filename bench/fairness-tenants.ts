/** Loads the tenants of the fairness row in a separate process. Writes their keys to TENANTS_FILE. */

import { writeFileSync } from 'node:fs'
import { createApiKey } from '../packages/server/src/access/api-keys.ts'
import { createTenant } from '../packages/server/src/access/tenants.ts'
import { openEngines } from '../packages/server/src/assembly/engines.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { createLog } from '../packages/server/src/platform/log.ts'
import { openTenant } from '../packages/server/src/platform/tenant.ts'
import { loadContacts, loadEvents, mergeParts } from './bulk.ts'
import { populationOf } from './people.ts'

/** The keys of the tenants with heavy queries, and of the one with light reads. */
export interface FairnessTenants {
  heavy: string[]
  light: string
}

const HEAVY_TENANTS = 8
const LIGHT_SIZE = { contacts: 2_000, events: 20_000 }
const [contacts = 0, events = 0] = process.argv.slice(2).map(Number)

const { stores, close } = await openEngines({ config: readConfig(process.env), log: createLog('silent') })

async function addTenant(name: string, size: { contacts: number; events: number }): Promise<string> {
  const tenantId = await createTenant(stores, { name }, { kind: 'command_line' }, new Date())
  await loadContacts(stores.database, tenantId, size.contacts)
  await loadEvents(stores, tenantId, populationOf(size), size.events)
  const { apiKey } = await createApiKey(openTenant(stores, tenantId), { name: 'bench', scopes: ['all'] }, new Date())
  return apiKey
}

const heavy: string[] = []
for (let n = 0; n < HEAVY_TENANTS; n++) heavy.push(await addTenant(`Heavy ${n}`, { contacts, events }))
const tenants: FairnessTenants = { heavy, light: await addTenant('Light', LIGHT_SIZE) }
await mergeParts(stores)
await close()
writeFileSync(process.env.TENANTS_FILE ?? 'tenants.json', JSON.stringify(tenants))
process.exit(0)
