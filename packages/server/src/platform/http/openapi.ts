import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifySchema } from 'fastify'
import type { Config } from '../../config.ts'
import { completeDocument, type Tag } from './openapi-document.ts'
import { withRecordSchemas } from './records.ts'
import { ErrorResponse } from './responses.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url))

/** Turns the routes' schemas into openapi.json. */
export function describeApi(config: Pick<Config, 'publicUrl'>, tags: readonly Tag[]): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Customer Data Service',
        version: '1',
        description:
          'Contacts, companies, behavioral events and identity for many tenants. Every response has `status`; an error has a stable `code` and the `request_id`. In a body, null for an optional field means that the field is absent, unless its description says otherwise. Responses are at most 16 MiB; larger ones return 400 `response_too_large`. Examples are real responses; their lists are cut to two entries.',
      },
      servers: [{ url: config.publicUrl }],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `cds_…`.' } },
      },
      security: [{ apiKey: [] }],
    },
    transform: ({ schema, url, route }) => {
      const access = route.config?.access
      // A route for any scope documents its scope in its own description.
      const anyScope = access === undefined || access === 'public' || access === 'any-key'
      const scope = anyScope ? '' : `Needs the scope \`${access}\`.`
      const described = schema as FastifySchema & { description?: string; operationId?: string; hide?: boolean }
      if (described?.operationId === undefined) return { schema: { ...described, hide: true } as FastifySchema, url }
      return {
        schema: {
          ...described,
          description: [described.description, scope, route.config?.furtherScopes].filter(Boolean).join(' '),
          ...(described.body ? { body: withRecordSchemas(described.body) } : {}),
          response: withRecordSchemas({ ...(described.response as object), default: ErrorResponse }),
        } as FastifySchema,
        url,
      }
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) return {}
      const examples = readExamples()
      return completeDocument(document.openapiObject as never, tags, (name) => examples.get(name))
    },
  }
}

/** The responses that examples.test.ts recorded, by operation; errors by their component. */
function readExamples(): Map<string, unknown> {
  const files = readdirSync(EXAMPLES)
  return new Map(files.map((file) => [basename(file, '.json'), JSON.parse(readFileSync(join(EXAMPLES, file), 'utf8'))]))
}

/** The checked-in openapi.json, which does not depend on port and host. */
export function renderOpenapi(document: object): string {
  return `${JSON.stringify({ ...document, servers: [{ url: 'http://localhost:8080' }] }, null, 2)}\n`
}
