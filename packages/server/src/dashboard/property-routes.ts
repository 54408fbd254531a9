import Type from 'typebox'
import { findProperties } from '../contacts/property-catalogue.ts'
import { dataKeys } from '../events/data-keys.ts'
import type { App } from '../platform/http/app-types.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { success } from '../platform/http/responses.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { VIEWER } from './access.ts'
import { BUILT_IN, ENTITIES, type Entity, labelOf, PROPERTY_TYPES, type Property } from './properties.ts'

/** What filters can compare and lists can show. */
export function propertyRoutes(app: App, { clock }: { clock: Clock }): void {
  app.get(
    '/api/properties',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        querystring: Type.Object({ entity: oneOf(ENTITIES, 'What the properties are of.', 'contacts') }),
        response: {
          200: success({
            properties: Type.Array(
              Type.Object({
                name: Type.String(),
                label: Type.String(),
                type: Type.Unsafe<Property['type']>({ type: 'string', enum: PROPERTY_TYPES }),
              }),
            ),
          }),
        },
      },
    },
    async ({ tenant, query: { entity = 'contacts' } }) => {
      const found = await customProperties(tenant, entity, clock())
      const builtIn = BUILT_IN[entity]
      const known = new Set(builtIn.map(({ name }) => name))
      const others = found
        .filter(({ name }) => !known.has(name))
        .map((each) => ({ ...each, label: labelOf(each.name) }))
      return { status: 'success' as const, properties: [...builtIn, ...others] }
    },
  )
}

async function customProperties(tenant: Tenant, entity: Entity, now: Date): Promise<Omit<Property, 'label'>[]> {
  if (entity !== 'events') return findProperties(tenant, entity)
  const keys = await dataKeys(tenant, now)
  return keys.map((key) => ({ name: `data.${key}`, type: 'text' as const }))
}
