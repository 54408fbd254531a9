import { isDeepStrictEqual } from 'node:util'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifySchema } from 'fastify'
import type { Config } from '../../config.ts'
import { withRecordSchemas } from './records.ts'
import { ErrorAnswer } from './responses.ts'

/** Turns the routes' schemas into openapi.json. */
export function describeApi(config: Pick<Config, 'publicUrl'>): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Customer Data Service',
        version: '1',
        description:
          'Contacts, companies, behavioural events and identity for many tenants. Every response has `status`; an error has a stable `code` and the `request_id`. In a body, null for an optional field means that the field is absent, unless its description says otherwise. Responses are at most 16 MiB; larger ones return 400 `answer_too_large`.',
      },
      servers: [{ url: config.publicUrl }],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `cds_…`.' } },
      },
      security: [{ apiKey: [] }],
    },
    transform: ({ schema, url, route }) => {
      const access = route.config?.access
      // A route for any scope documents its scopes in its own description.
      const anyScope = access === undefined || access === 'public' || access === 'any-key'
      const scope = anyScope ? '' : `Needs the scope \`${access}\`.`
      const described = schema as FastifySchema & { description?: string; operationId?: string; hide?: boolean }
      if (described?.operationId === undefined) return { schema: { ...described, hide: true } as FastifySchema, url }
      return {
        schema: {
          ...described,
          description: [described.description, scope].filter(Boolean).join(' '),
          ...(described.body ? { body: withRecordSchemas(described.body) } : {}),
          response: { ...(described.response as object), default: ErrorAnswer },
        } as FastifySchema,
        url,
      }
    },
    transformObject: (document) =>
      'openapiObject' in document ? nameComponents(leaveBodiesOptional(document.openapiObject)) : {},
  }
}

/** The keywords whose values are not schemas. */
const VALUES = ['const', 'default', 'enum', 'example', 'examples']
const NAME = /^[A-Z][A-Za-z]+$/

/**
 * Moves each schema with a `title` to the components under that name, so that a generated client has types with names.
 * @throws Error if two schemas have the same title.
 */
function nameComponents<Document extends { paths?: object; components?: object }>(document: Document): Document {
  const schemas: Record<string, unknown> = {}
  const named = (value: unknown): unknown => {
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) return value.map(named)
    const { title, ...schema } = Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, VALUES.includes(name) ? part : named(part)]),
    )
    // A field may have that name.
    if (typeof title !== 'string') return title === undefined ? schema : { ...schema, title }
    if (!NAME.test(title)) throw new Error(`The title '${title}' of a schema is not a name such as ContactEvent.`)
    const known = schemas[title]
    if (known !== undefined && !isDeepStrictEqual(known, schema)) {
      throw new Error(`Two schemas have the title ${title}; give one of them another name.`)
    }
    schemas[title] = schema
    return { $ref: `#/components/schemas/${title}` }
  }
  const paths = named(document.paths)
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...document, paths, components: { ...document.components, schemas: sorted } }
}

/** Marks optional bodies as not `required`, which is the default for every body. */
function leaveBodiesOptional<Document extends { paths?: object }>(document: Document): Document {
  for (const operations of Object.values(document.paths ?? {})) {
    for (const { requestBody } of Object.values(operations as Record<string, { requestBody?: RequestBody }>)) {
      if (requestBody?.content?.['application/json']?.schema?.['x-optional']) requestBody.required = false
    }
  }
  return document
}

interface RequestBody {
  required?: boolean
  content?: Record<string, { schema?: { 'x-optional'?: boolean } }>
}

/** The checked-in openapi.json, which does not depend on port and host. */
export function renderOpenapi(document: object): string {
  return `${JSON.stringify({ ...document, servers: [{ url: 'http://localhost:8080' }] }, null, 2)}\n`
}
