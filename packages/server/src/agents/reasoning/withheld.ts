import { type ChosenProperties, isListed } from '../../access/chosen-properties.ts'
import type { Properties } from '../../contacts/properties.ts'
import { summaryOf } from '../../contacts/summary.ts'
import { kindOfProperty } from '../../personal/fields.ts'
import { personalNames } from '../../personal/personal-names.ts'
import type { FieldKind } from '../../platform/personal.ts'
import type { ContactContext } from './context.ts'

/** A model greets a person by name and may mention their city. For these, no message and no decision has a use. */
const USELESS: readonly (FieldKind | null)[] = ['number', 'ip', 'device']

export function isUseless(kind: FieldKind | null): boolean {
  return USELESS.includes(kind)
}

/** Whether no model of an agent sees the values of a property. */
export function isWithheldFromModels(
  name: string,
  entity: 'contacts' | 'companies',
  chosen: ChosenProperties,
  kindOfName = personalNames(chosen),
): boolean {
  return isListed(chosen.personal, name) || isUseless(kindOfProperty(name, entity, kindOfName))
}

/**
 * A contact's data as a model may see it: without the properties that the tenant hides from AI agents, and without numbers
 * of documents, IP addresses and ids of devices.
 */
export function withoutWithheld(context: ContactContext, chosen: ChosenProperties): ContactContext {
  const kindOfName = personalNames(chosen)
  const shown = (entity: 'contacts' | 'companies') => (name: string) =>
    !isWithheldFromModels(name, entity, chosen, kindOfName)
  const properties = only(context.properties, shown('contacts'))
  const { company, unified_profile: profile } = context
  return {
    ...context,
    summary: summaryOf(properties),
    properties,
    company: company && { ...company, properties: only(company.properties, shown('companies')) },
    unified_profile: { ...profile, conflicts: only(profile.conflicts, shown('contacts')) },
  }
}

function only<Values extends Properties | Record<string, unknown>>(
  values: Values,
  has: (name: string) => boolean,
): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => has(name))) as Values
}
