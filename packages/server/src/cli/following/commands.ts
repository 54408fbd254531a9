import { CustomerData, type Event } from '../../../../client/src/index.ts'
import { ServiceError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { createApiFetch } from '../../platform/outbound/api-fetch.ts'
import { newSigningSecret } from '../../webhooks/signature.ts'
import type { CommandThatFollows, Option, Values } from '../command.ts'
import { follow } from './follow.ts'
import { forward } from './forward.ts'
import { serveOverStdio } from './mcp.ts'

/** As many as a tenant may have webhooks. */
const NAMES_MAX = 25

const url: Option = {
  type: 'string',
  hint: 'URL',
  description: 'The service. Default: CDS_URL, else http://localhost:8080.',
}

/**
 * Commands that run on a developer's machine and reach the service over HTTP, because its databases are elsewhere. They
 * need an API key.
 */
export const FOLLOWING_COMMANDS: Record<string, CommandThatFollows> = {
  'event tail': {
    summary: 'Print events as they arrive, until Ctrl+C; the key in CDS_KEY needs the scope events:read',
    options: { event: { type: 'string', hint: 'NAME', multiple: true, description: 'Only this event.' }, url },
    prints: 'one line for each event, as `GET /v1/events/:event_id` returns it',
    check: ({ event }) => problemOf(event === undefined ? [] : [event].flat().map(String)),
    follow: async (values, signal) => {
      const client = openClient(values)
      const names = values.event === undefined ? [] : [values.event].flat().map(String)
      const onReady = () => console.error('Waiting for events. End with Ctrl+C.')
      for await (const event of follow(client, { names, signal, onReady, onProblem })) {
        console.log(values.json === true ? JSON.stringify(event) : lineOf(event))
      }
    },
  },
  listen: {
    summary:
      'Send events to a program on this machine as webhooks do, until Ctrl+C; the key in CDS_KEY needs the scopes events:read and settings:read',
    options: {
      'forward-to': {
        type: 'string',
        hint: 'URL',
        required: true,
        description: 'for example http://localhost:3000/hooks',
      },
      events: { type: 'string', hint: 'NAME,…', description: 'only these events; default: every event' },
      secret: { type: 'string', hint: 'SECRET', description: 'signs the requests: whsec_…; default: a new one' },
      url,
    },
    prints: 'a line with `signing_secret`, then one line for each delivery',
    check: ({ events, secret, 'forward-to': target }) =>
      problemOf(namesOf(events)) ?? problemOfSecret(secret) ?? problemOfUrl('--forward-to', String(target)),
    follow: async (values, signal) => {
      const client = openClient(values)
      const { tenant } = await client.getTenant({ signal })
      const secret = String(values.secret ?? newSigningSecret())
      const target = String(values['forward-to'])
      // The developer names the address, and it is the developer's own machine.
      const outbound = createApiFetch({ allowPrivate: true, allowHttp: true })
      const sender = {
        outbound,
        target,
        secret,
        subscriptionId: newId(),
        tenantId: tenant.tenant_id,
        signal,
      }
      const isJson = values.json === true
      const onReady = () => console.log(isJson ? JSON.stringify({ signing_secret: secret }) : readyText(target, secret))
      try {
        for await (const event of follow(client, { names: namesOf(values.events), signal, onReady, onProblem })) {
          const delivery = await forward(sender, event)
          if (signal.aborted) return
          console.log(isJson ? JSON.stringify(delivery) : `${lineOf(event)}  → ${delivery.status ?? delivery.error}`)
        }
      } finally {
        await outbound.close()
      }
    },
  },
  mcp: {
    summary:
      'Connect an AI agent on this machine, such as a desktop client, to the service over MCP; the key in CDS_KEY needs the scopes of the tools',
    options: { url },
    prints: 'the same as without it: messages of the protocol',
    follow: (values, signal) => serveOverStdio(serviceOf(values), signal),
  },
}

function openClient(values: Values): CustomerData {
  const { url, key } = serviceOf(values)
  return new CustomerData({ url, apiKey: key })
}

/** The key is not an option, because every user of a machine can see the options of its processes. */
function serviceOf({ url }: Values): { url: string; key: string } {
  const { CDS_URL, CDS_KEY } = process.env
  const service = String(url ?? CDS_URL ?? 'http://localhost:8080')
  const problem = problemOfUrl(url === undefined ? 'CDS_URL' : '--url', service)
  if (problem !== null) throw new ServiceError(400, 'invalid_option', `${problem}.`)
  if (!CDS_KEY) {
    const message = 'Set CDS_KEY to an API key. Create one with cdsctl key create, or in the dashboard.'
    throw new ServiceError(400, 'invalid_option', message)
  }
  return { url: service, key: CDS_KEY }
}

function onProblem({ message }: Error): void {
  console.error(`cdsctl: ${message} Trying again until it responds; nothing is lost.`)
}

function namesOf(events: Values[string]): string[] {
  return events === undefined
    ? []
    : String(events)
        .split(',')
        .map((name) => name.trim())
}

function problemOf(names: string[]): string | null {
  if (names.includes('')) return 'has an event without a name'
  return names.length > NAMES_MAX ? `accepts at most ${NAMES_MAX} events` : null
}

function problemOfSecret(secret: Values[string]): string | null {
  if (secret === undefined || /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/.test(String(secret))) return null
  return 'requires a --secret such as whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
}

function problemOfUrl(name: string, text: string): string | null {
  return /^https?:\/\/./.test(text) && URL.canParse(text)
    ? null
    : `requires a URL as ${name}, such as http://localhost:3000`
}

function readyText(target: string, secret: string): string {
  return `Sending events to ${target}.\nSigning secret: ${secret}\nEnd with Ctrl+C.\n`
}

/** An event in one line: time, name, person, page. */
function lineOf({ timestamp, event, contact, visitor_id, url: page }: Event): string {
  const person = contact?.email ?? contact?._id ?? visitor_id ?? ''
  return [timestamp, event, person, page ?? ''].filter((part) => part !== '').join('  ')
}
