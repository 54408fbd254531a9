import Type from 'typebox'
import { missingContact } from '../contacts/aliases.ts'
import { knownContacts } from '../contacts/read.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { validationError } from '../platform/errors.ts'
import { Nullable } from '../platform/http/responses.ts'
import { WORD } from '../platform/personal.ts'
import { ContactEnrichment, readContactEnrichment } from './contact-enrichment.ts'
import { countryCode } from './countries.ts'
import { askAndWait, enrichNow, factsOf, queueForProviders } from './on-demand.ts'
import type { ProviderServices } from './providers/work.ts'
import { changeEnrichmentSettings, type EnrichmentSettings, readEnrichmentSettings } from './settings.ts'

const tag = 'Enrichment'
const ContactPath = { contact_id: idInPath('contact') }

const SWITCHES = {
  company:
    'Links a contact with a work address to the company with the domain of the address, and creates the company if there is none.',
  place: 'Fills `country`, `region` and `city` with the place of the last visit.',
  phone: 'Fills `phone_e164` and `phone_country` from a phone number.',
  name: 'Fills `firstname` and `lastname` with the name beside the address in mails.',
} as const

const switchesOf = <Switch>(of: (description: string) => Switch) => ({
  company: of(SWITCHES.company),
  place: of(SWITCHES.place),
  phone: of(SWITCHES.phone),
  name: of(SWITCHES.name),
})

const Enrichment = Type.Object(
  {
    ...switchesOf((description) => Type.Boolean({ description })),
    country: Nullable(
      Type.String(WORD),
      'The country of phone numbers without a country code, if the contact has no country: ISO 3166-1 alpha-2.',
    ),
  },
  { title: 'Enrichment' },
)

/** How long a request waits for providers. */
const WAIT_MS = 8_000

const enrichmentOperation = operationsWith<WriteServices & ProviderServices>()
const entryOf = entryAbout('tenant')

export const ENRICHMENT_OPERATIONS = [
  enrichmentOperation({
    name: 'getEnrichment',
    tag,
    http: 'GET /v1/enrichment',
    command: 'enrichment get',
    scope: 'settings:read',
    summary: 'Get which enrichers are on',
    input: {},
    output: { enrichment: Enrichment },
    run: async ({ tenant }) => ({ enrichment: toObject(await readEnrichmentSettings(tenant)) }),
  }),
  enrichmentOperation({
    name: 'updateEnrichment',
    tag,
    http: 'PATCH /v1/enrichment',
    command: 'enrichment update',
    scope: 'settings:write',
    summary: 'Switch enrichers on or off',
    description:
      'What was filled before stays. A contact is looked at again when something that the enricher reads changes, or with POST /v1/contacts/{contact_id}/enrich.',
    input: {
      ...switchesOf((description) => Type.Optional(Type.Boolean({ description }))),
      country: Type.Optional(
        Nullable(
          Type.String({ minLength: 2, maxLength: 2, examples: ['AT'] }),
          'The country of phone numbers without a country code, if the contact has no country: ISO 3166-1 alpha-2. null removes it.',
        ),
      ),
    },
    output: { enrichment: Enrichment },
    example: { place: false, country: 'AT' },
    options: {
      country: { name: 'country', hint: 'CODE|none', read: (text: string) => (text === 'none' ? null : text) },
    },
    async run({ tenant }, { country: sent, ...switches }) {
      const country = typeof sent === 'string' ? countryCode(sent) : sent
      if (typeof sent === 'string' && country === null) {
        throw validationError([{ path: 'country', message: 'is not the code of a country, such as AT or US' }])
      }
      return { enrichment: toObject(await changeEnrichmentSettings(tenant, switches, country)) }
    },
    audit: (_output, changes, { tenant }) =>
      Object.keys(changes).length === 0 ? null : entryOf('enrichment.updated', tenant.id, changes),
  }),
  enrichmentOperation({
    name: 'getContactEnrichment',
    tag,
    http: 'GET /v1/contacts/:contact_id/enrich',
    command: 'contact enrichment',
    scope: 'contacts:read',
    summary: 'Get what enrichment filled in a contact, and from what',
    input: ContactPath,
    output: { enrichment: ContactEnrichment },
    errors: ['404 contact_merged'],
    run: async ({ tenant }, { contact_id }) => ({ enrichment: await readContactEnrichment(tenant, contact_id) }),
  }),
  enrichmentOperation({
    name: 'enrichContact',
    tag,
    http: 'POST /v1/contacts/:contact_id/enrich',
    command: 'contact enrich',
    scope: 'contacts:write',
    summary: 'Enrich a contact now',
    description:
      'Asks every enricher that is on, and the providers, for which it waits up to 8 seconds. `waiting` says whether some are still to be asked: they are, in the background. Only blanks are filled. Again without news, it changes nothing, so a retry after an interrupted request is harmless.',
    input: ContactPath,
    output: { enrichment: ContactEnrichment },
    errors: ['404 contact_merged'],
    unaudited: 'recorded as an event',
    async check({ tenant }, { contact_id }) {
      if (!(await knownContacts(tenant, [contact_id])).has(contact_id)) throw await missingContact(tenant, contact_id)
      return factsOf(tenant, [contact_id])
    },
    async run({ tenant, writer, clock }, { contact_id }, facts) {
      await enrichNow(tenant, { writer }, facts)
      await queueForProviders(tenant, { clock }, [contact_id])
      return { enrichment: await readContactEnrichment(tenant, contact_id) }
    },
    async after({ tenant, ...services }, { enrichment }, { contact_id }) {
      if (!enrichment.waiting) return {}
      await askAndWait(tenant, services, contact_id, WAIT_MS)
      return { enrichment: await readContactEnrichment(tenant, contact_id) }
    },
  }),
]

function toObject({ off, country }: EnrichmentSettings): Type.Static<typeof Enrichment> {
  return {
    company: !off.has('company'),
    place: !off.has('place'),
    phone: !off.has('phone'),
    name: !off.has('name'),
    country,
  }
}
