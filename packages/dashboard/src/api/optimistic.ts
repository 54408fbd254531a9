import type { Query, QueryClient } from '@tanstack/react-query'
import { call, type OperationName } from './client.ts'
import { refreshAfter } from './operation.ts'
import type { Company, Contact, Entity } from './types.ts'

/** A change of a contact or a company. A property of null is removed. */
export interface RecordChanges {
  name?: string | null
  domain?: string | null
  properties?: Record<string, unknown>
}

/** The operations whose responses have whole records. */
const READING: ReadonlySet<unknown> = new Set<OperationName>([
  'getCompany',
  'getContact',
  'listCompanies',
  'listContacts',
])

/** A response of one of them. */
interface Read {
  contact?: Contact
  company?: Company
  contacts?: Contact[]
  companies?: Company[]
}

/** Shows a change at once, and saves it. If that fails, it is undone. @throws ApiError */
export async function saveShown(queryClient: QueryClient, entity: Entity, id: string, changes: RecordChanges) {
  // A response that is under way would show the old value again.
  await queryClient.cancelQueries({ queryKey: [entity], predicate: showing(id) })
  const undo = showChange(queryClient, entity, id, changes)
  try {
    await updateRecord(entity, id, changes)
  } catch (error) {
    undo()
    throw error
  }
  void refreshRecords(queryClient, entity)
}

/** @param version if given, the change fails with 412 if the record was changed since. @throws ApiError */
export function updateRecord(entity: Entity, id: string, changes: RecordChanges, version?: string | null) {
  return entity === 'contacts'
    ? call('updateContact', { contact_id: id, ...changes }, undefined, version)
    : call('updateCompany', { company_id: id, ...changes }, undefined, version)
}

/** Reads again what a change of a record may have changed. */
export function refreshRecords(queryClient: QueryClient, entity: Entity): Promise<void> {
  return refreshAfter(queryClient, entity === 'contacts' ? 'updateContact' : 'updateCompany')
}

/** Shows a change wherever the record is shown, before the service has responded. @returns a function that undoes it. */
export function showChange(queryClient: QueryClient, entity: Entity, id: string, changes: RecordChanges): () => void {
  const shown = queryClient.getQueriesData<Read>({ queryKey: [entity], predicate: showing(id) })
  for (const [queryKey, read] of shown) queryClient.setQueryData(queryKey, read && changedIn(read, id, changes))
  return () => {
    for (const [queryKey, read] of shown) queryClient.setQueryData(queryKey, read)
  }
}

/** Whether a query has a record. */
function showing(id: string) {
  return ({ queryKey, state }: Query): boolean => {
    if (!READING.has(queryKey[1])) return false
    const { contact, company, contacts = [], companies = [] } = (state.data ?? {}) as Read
    return [contact, company, ...contacts, ...companies].some((record) => record !== undefined && idOf(record) === id)
  }
}

function changedIn({ contact, company, contacts, companies, ...rest }: Read, id: string, changes: RecordChanges): Read {
  const change = <Shown extends Contact | Company>(record: Shown) =>
    idOf(record) === id ? changedBy(record, changes) : record
  return {
    ...rest,
    ...(contact ? { contact: change(contact) } : {}),
    ...(company ? { company: change(company) } : {}),
    ...(contacts ? { contacts: contacts.map(change) } : {}),
    ...(companies ? { companies: companies.map(change) } : {}),
  }
}

function changedBy<Shown extends Contact | Company>(record: Shown, { properties, ...fields }: RecordChanges): Shown {
  const kept = Object.entries({ ...record.properties, ...properties }).filter(([, value]) => value !== null)
  return { ...record, ...fields, properties: Object.fromEntries(kept) }
}

function idOf(record: Contact | Company): string {
  return 'contact_id' in record ? record.contact_id : record.company_id
}
