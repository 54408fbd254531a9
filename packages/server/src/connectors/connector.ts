import type { TProperties } from 'typebox'
import type { SourceCompany } from '../companies/source-companies.ts'
import type { PropertyChanges } from '../contacts/properties.ts'
import type { IncomingMessage } from '../conversations/message.ts'
import type { ServiceError } from '../platform/errors.ts'
import type { JsonAnswer } from '../platform/outbound/json-api.ts'
import type { ProviderName } from '../providers/provider.ts'
import type { Call } from '../sites/ingestion/call.ts'
import type { CONNECTOR_KINDS } from '../sources/connectors.ts'
import type { Client } from './client.ts'
import type { WriteBack } from './write-back/write-back.ts'

/** Values that a connector stores and reads back, such as a cursor or its settings. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

export type Settings = Readonly<Record<string, Json>>

/** What a connector signs in with: the fields that it declares, or `access_token` after a sign-in at the provider. */
export type Credentials = Readonly<Record<string, string>>

/**
 * A system whose data the service reads. Everything else follows from this declaration: connecting, the schedule, the stored
 * position, retries, errors of single records, the operations and the page in the dashboard.
 */
export interface Connector {
  /** In paths and tables, and the default name of the connection's source. */
  name: string
  label: string
  kind: (typeof CONNECTOR_KINDS)[number]
  /** The secret fields that sign in, with their descriptions. Empty: only `oauth` signs in. */
  credentials: Readonly<Record<string, string>>
  /** Sign-in at a provider of `providers/`, instead of the credentials. */
  oauth?: { provider: ProviderName; scopes: readonly string[] }
  /** Settings that the provider's answer to a sign-in has, such as the URL of the account's API. Unchecked. */
  settingsOfAnswer?(answer: Readonly<Record<string, unknown>>): Record<string, unknown>
  /**
   * The other fields that people set, such as a region or a project. One that only `settingsOfAnswer` sets is optional and
   * `readOnly`, so that the dashboard's form does not ask for it.
   */
  settings: TProperties
  /** Where the API is. @throws ServiceError 400 for settings that name no allowed host. */
  baseUrl(settings: Settings): string
  /** Other hosts of the API, by the names that requests give them. They get the same headers. */
  otherUrls?(settings: Settings): Readonly<Record<string, string>>
  /** The headers of every request. */
  headers(credentials: Credentials, settings: Settings): Record<string, string>
  /** The shortest time between two requests of one connection, in milliseconds: the API's rate limit, spread out. */
  pauseMs: number
  /** When a refused request may be repeated; null: the answer is not a rate limit. Default: 429 with Retry-After. */
  retryAt?(answer: JsonAnswer, now: Date): Date | null
  /** When the next request may be sent, if a good answer says that none is left; null: after the pause. */
  nextAt?(answer: JsonAnswer, now: Date): Date | null
  /** What the API says of an error, if that is not in `message` or `error`. */
  explain?(answer: JsonAnswer): string
  /** The account that the credentials open. @throws ApiRefused */
  account(client: Client, settings: Settings): Promise<Account>
  /** Read in this order: what others refer to comes first. */
  objects: readonly ConnectorObject[]
  /** How changes made here are written to the system. Absent: it is only read. */
  writeBack?: WriteBack
}

/** An account at a connected system. */
export interface Account {
  /** Stays the same for as long as the account exists, and no other has it; null: the answer does not have it. */
  id: string | null
  /** Shows people what they connected. */
  label: string
}

/** A kind of records, such as contacts. */
export interface ConnectorObject {
  name: string
  /** How far each read goes back before the last one, because a search may find a change late. */
  overlapSeconds: number
  /**
   * Reads the next page. Its writes may be repeated, because the position is stored after them. A system that sends many
   * pages in one answer, such as a file, yields them: each page says where to continue after it, and the read is closed
   * early if time is up. Unless the last page has no `next`, the object is read again from there.
   */
  read(client: Client, range: ReadRange): Promise<RecordsPage> | AsyncGenerator<RecordsPage>
}

/** What to read. */
export interface ReadRange {
  /** Records changed since then; null: all of them. */
  since: Date | null
  /**
   * When this run began, the same for all its objects: what refers to other records, such as an event, is read until then,
   * because those records have been read by then. What changed later is read in the next run.
   */
  until: Date
  /** Whether this is the first read, or one that a person asked for; otherwise it continues the one before. */
  isHistory: boolean
  /** From the page before; null for the first one. */
  cursor: Json
  settings: Settings
  /** Aborts when the read must end. */
  signal: AbortSignal
  /** The properties of contacts that are written back: `property` must be read from `target`, and from nothing else. */
  pairs: readonly Pair[]
}

/** A property of contacts, and the field of the connected system that it is written to. */
export interface Pair {
  property: string
  target: string
}

/** A page of records. Companies are written first, so that contacts can name them. */
export interface RecordsPage {
  companies?: readonly SourceCompany[]
  /** As in POST /v1/sources/:source/contacts, with the source's id of a company. */
  contacts?: readonly ContactRecord[]
  /** What the system says of people whom it has identified. They are written before the events. */
  profiles?: readonly Profile[]
  /** Events, and what they say of people. A failed one is listed among the connection's errors. */
  calls?: readonly SourceCall[]
  /** The messages of conversations, each oldest first. */
  conversations?: readonly (readonly Omit<IncomingMessage, 'source'>[])[]
  /** The source's ids of contacts that were deleted there. Those that are also in `merged` count as merged. */
  deleted?: readonly string[]
  /** The source's ids of companies that were deleted or merged there. The companies stay. */
  deletedCompanies?: readonly string[]
  /** The source's ids of contacts that were merged there. */
  merged?: readonly { from: string; into: string }[]
  /** Where the next page begins; null if this is the last one. It must be at most 10,000 characters as JSON. */
  next: Json
}

export interface ContactRecord {
  external_id: string
  email?: string | null
  properties: Record<string, unknown>
  raw?: unknown
  /** ISO 8601. */
  updated_at?: string
  /** The source's id of the contact's company. */
  company_id?: string | null
}

/**
 * What a system says of a person. The person is found or created as in POST /v1/identify; the properties are written under
 * the name of the connection's source.
 */
export interface Profile {
  /** The source's id of the person, for the list of errors. */
  id: string
  /** At least one of them. */
  userId: string | null
  email: string | null
  visitorIds: readonly string[]
  properties: PropertyChanges
  /** When they were true, ISO 8601. Default: now. */
  updated_at?: string
}

export interface SourceCall {
  /** The source's id of the event, for the list of errors. An event without an id of its own gets one from it. */
  id: string
  /** The source's id of the contact whom the call is about, if the call names nobody itself. */
  contact?: string
  call: Call | ServiceError
}
