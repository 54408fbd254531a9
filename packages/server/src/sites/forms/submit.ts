import type { FindIdentificationKeys } from '../../access/identification-settings.ts'
import type { CompanyOfForm } from '../../companies/form-changes.ts'
import { companyOfWrite } from '../../companies/write.ts'
import { ignoredWarnings } from '../../contacts/ignored-properties.ts'
import type { Properties } from '../../contacts/properties.ts'
import { changeContact, createContact } from '../../contacts/writing/change.ts'
import type { ContactSet, ContactState } from '../../contacts/writing/contact-set.ts'
import { touch } from '../../contacts/writing/first-touch.ts'
import type { SourceWrite } from '../../contacts/writing/source-write.ts'
import { linkVisitorsThatFit } from '../../contacts/writing/visitors.ts'
import type { WriteServices } from '../../contacts/writing/writer.ts'
import { beginningOf } from '../../journal/beginnings.ts'
import type { EventRecord } from '../../journal/event-record.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type Received, toRecord } from '../ingestion/event-fields.ts'

/** A form that a person submitted on a page of the tenant. */
export interface FormSubmission {
  formId: string
  visitorId: string | null
  email: string
  properties: Properties
  company: CompanyOfForm | null
  page: Page
}

/** The page and the browser, from the request's headers. */
export interface Page extends Omit<Received, 'tenantId' | 'visitorId' | 'at'> {
  url: string
}

const SOURCE = { source: 'form', kind: 'form' } as const
/** The warning about a visitor who stays unlinked. */
export const UNLINKED =
  'The visitor was not linked to the contact: signed identification is required. Send a signed identify to /track.'

export interface SubmissionDependencies extends WriteServices {
  findIdentificationKeys: FindIdentificationKeys
}

/**
 * Finds or creates the contact and the company, links the visitor and records a form_submission event, all in one
 * transaction: people do not submit a form again, so a failure between two would leave a contact without its form. Anyone can submit another person's email, so the values are unverified. If the tenant requires signed
 * identification, the visitor is not linked.
 */
export async function submitForm(
  tenant: Tenant,
  dependencies: SubmissionDependencies,
  submission: FormSubmission,
): Promise<{ contact_id: string; company_id: string | null; warnings: string[] }> {
  const { email, properties, company, visitorId } = submission
  const { requiresSignature } = await dependencies.findIdentificationKeys(tenant.id)
  const isUnlinked = requiresSignature && visitorId !== null
  const visitorIds = visitorId === null || isUnlinked ? [] : [visitorId]
  const { ignored, ...result } = await dependencies.writer.write(tenant, {
    keys: { emails: [email], visitorIds },
    company: company && companyOfWrite(company, { isVerified: false }),
    apply(set, { now, company: written }) {
      const filledIn = { email, properties, ...(written ? { companyId: written.companyId } : {}) }
      const { state, ignored, linked } = writePerson(set, filledIn, visitorIds, now)
      const record = eventOf(tenant.id, state.row.contact_id, submission, now)
      set.addRecord(record)
      // If the visitor was never seen, the form's page is its first.
      const beginning = beginningOf([record])
      if (linked > 0 && beginning) touch(set, state, beginning, now)
      const ofContact = ignored.map((key) => (key === 'company_id' ? key : `contact_data.${key}`))
      const ofCompany = written?.ignored.map((key) => `company_data.${key}`) ?? []
      const companyId = written?.companyId ?? null
      return { contact_id: state.row.contact_id, company_id: companyId, ignored: [...ofContact, ...ofCompany] }
    },
  })
  return { ...result, warnings: [...(isUnlinked ? [UNLINKED] : []), ...ignoredWarnings(ignored)] }
}

/** Finds or creates the contact of a form's address, writes what was filled in, and links the visitors. */
export function writePerson(
  set: ContactSet,
  filledIn: Pick<SourceWrite, 'email' | 'properties' | 'companyId'> & { email: string },
  visitorIds: readonly string[],
  now: Date,
): { state: ContactState; ignored: string[]; linked: number } {
  const { email } = filledIn
  const write = { ...SOURCE, ...filledIn }
  const known = set.find('email', email)
  const { state, ignored } = known
    ? changeContact(set, known, write, now)
    : createContact(set, { email, externalId: null }, write, now)
  return { state, ignored, linked: linkVisitorsThatFit(set, visitorIds, state, SOURCE.source, now) }
}

/** The event has the form and the names of the submitted fields; their values are stored with the contact only. */
function eventOf(tenantId: string, contactId: string, submission: FormSubmission, at: Date): EventRecord {
  const { formId, visitorId, properties, page } = submission
  const data = { form_id: formId, fields: ['email', ...Object.keys(properties)] }
  const received = { ...page, tenantId, visitorId: visitorId ?? '', at }
  // A form is recorded however many fields it has.
  const record = toRecord({ event: 'form_submission', url: page.url, data }, { received }, () => {})
  return { ...record, owner_id: contactId, is_anonymous: false, element_type: 'form' }
}
