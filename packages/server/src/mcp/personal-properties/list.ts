import { isListed } from '../../access/chosen-properties.ts'
import { readTenant } from '../../access/tenants.ts'
import { sampleCompanyProperties } from '../../companies/list.ts'
import { sampleContactProperties } from '../../contacts/found-properties.ts'
import { isAlwaysPersonal } from '../../contacts/property-names.ts'
import { type SampledProperty, sampleDataKeys } from '../../events/data-keys.ts'
import { kindOfProperty } from '../../personal/fields.ts'
import { personalNames } from '../../personal/personal-names.ts'
import { KINDS, type Kind, TEXT } from '../../platform/personal.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Redactor } from '../redaction/redactor.ts'
import { type Proposal, proposalFor } from './proposal.ts'

export const ENTITIES = ['contacts', 'companies', 'events'] as const
type Entity = (typeof ENTITIES)[number]

/** `service`: it is personal in every workspace. `workspace`: the tenant says so. `name`: its name does. */
export const DECIDED_BY = ['service', 'workspace', 'name'] as const

/** A property, and whether AI agents see its values. */
interface PersonalProperty {
  name: string
  is_hidden: boolean
  /** What decides it; null if nothing says that it is personal. */
  decided_by: (typeof DECIDED_BY)[number] | null
  proposal: Proposal | null
}

/** The properties of the newest records of an entity, most frequent first, and what may be wrong about them. */
export async function listPersonalProperties(
  tenant: Tenant,
  entity: Entity,
  redactor: Redactor,
  now: Date,
): Promise<PersonalProperty[]> {
  const [{ chosen }, properties] = await Promise.all([readTenant(tenant), sample(tenant, entity, now)])
  const kindOfName = personalNames(chosen)
  const byVocabulary = personalNames({ personal: [], visible: [] })
  const recognized = await recognize(redactor, properties)
  return properties.map((property, index) => {
    const { name } = property
    const kind = kindOfProperty(name, entity, kindOfName)
    const isChosen = isListed([...chosen.personal, ...chosen.visible], name)
    const isOfService = kind !== null && isAlwaysPersonal(name)
    return {
      name,
      is_hidden: kind !== null,
      decided_by: isOfService ? 'service' : isChosen ? 'workspace' : kind === null ? null : 'name',
      proposal: proposalFor(
        property,
        { kind, isChosen: isChosen || isOfService },
        recognized[index] ?? [],
        byVocabulary,
      ),
    }
  })
}

function sample(tenant: Tenant, entity: Entity, now: Date): Promise<SampledProperty[]> {
  if (entity === 'contacts') return sampleContactProperties(tenant)
  return entity === 'companies' ? sampleCompanyProperties(tenant) : sampleDataKeys(tenant, now)
}

const SAMPLES = {
  properties: { samples: { type: 'array', items: { type: 'array', items: { type: 'string', ...TEXT } } } },
}
const ONE_PSEUDONYM = new RegExp(`^(${KINDS.join('|')}):\\S+$`)
const PROFILE =
  /^(?:https?:\/\/)?(?:www\.|[a-z]{2}\.)?(?:linkedin\.com\/(?:in|pub)|xing\.com\/profile|(?:twitter|x|facebook|instagram|github|gitlab|tiktok)\.com)\/[^/?#\s]+\/?$/i

/** What the values of each property are by themselves, whatever their names: what redaction finds in texts. */
async function recognize(redactor: Redactor, properties: readonly SampledProperty[]): Promise<(Kind | null)[][]> {
  const samples = properties.map(({ values }) => values)
  const redacted = (await redactor.redact({ samples }, SAMPLES)) as { samples: string[][] }
  return redacted.samples.map((values) => values.map(kindOfRedacted))
}

function kindOfRedacted(text: string): Kind | null {
  const [, kind] = ONE_PSEUDONYM.exec(text) ?? []
  if (kind !== undefined) return kind as Kind
  // A text keeps the URL of a page, but a value that is one of a profile names a person.
  return PROFILE.test(text) ? 'url' : null
}
