import type { TProperties } from 'typebox'
import type { SourceCompany } from '../companies/source-companies.ts'
import type { PropertyChanges, PropertyValue } from '../contacts/properties.ts'
import type { IncomingMessage } from '../conversations/message.ts'
import type { ServiceError } from '../platform/errors.ts'
import type { JsonResponse } from '../platform/outbound/json-api.ts'
import type { ProviderName } from '../providers/provider.ts'
import type { Call } from '../sites/ingestion/call.ts'
import type { CONNECTOR_KINDS } from '../sources/connectors.ts'
import type { Client } from './client.ts'

/** A value that a connector stores and reads back, such as a cursor or its settings. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

export type Settings = Readonly<Record<string, Json>>

/** The credentials: the fields that a connector declares, or `access_token` after a sign-in at the provider. */
export type Credentials = Readonly<Record<string, string>>

/**
 * Declares a system that the service reads. Everything else is shared by all connectors: connecting, scheduling, the stored
 * position, retries, errors of single records, the operations and the dashboard page.
 */
export interface Connector {
  /** The name in paths and tables. It is the default source of a connection. */
  name: string
  label: string
  kind: (typeof CONNECTOR_KINDS)[number]
  /** The secret fields to sign in with, and their descriptions. Empty: sign in only with `oauth`. */
  credentials: Readonly<Record<string, string>>
  /** Sign-in at a provider of `providers/`, instead of the credentials. */
  oauth?: { provider: ProviderName; scopes: readonly string[] }
  /** Settings from the provider's response to a sign-in, such as the URL of the account's API. Unchecked. */
  settingsOfResponse?(response: Readonly<Record<string, unknown>>): Record<string, unknown>
  /**
   * The other fields that people set, such as a region or a project. A field that only `settingsOfResponse` sets is optional and
   * `readOnly`, so the dashboard's form does not ask for it.
   */
  settings: TProperties
  /** The base URL of the API. @throws ServiceError 400 if the settings name a host that is not allowed. */
  baseUrl(settings: Settings): string
  /** Other base URLs of the API, by the name that requests use. They get the same headers. */
  otherUrls?(settings: Settings): Readonly<Record<string, string>>
  /** The headers of every request. */
  headers(credentials: Credentials, settings: Settings): Record<string, string>
  /** The shortest time between two requests of one connection, in milliseconds. It spreads out the API's rate limit. */
  pauseMs: number
  /** When a refused request may be retried; null: the response is not a rate limit. Default: 429 with Retry-After. */
  retryAt?(response: JsonResponse, now: Date): Date | null
  /** When the next request may be sent, if a successful response reports that none is left; null: after the pause. */
  nextAt?(response: JsonResponse, now: Date): Date | null
  /** The error text of a response, if it is not in `message` or `error`. */
  explain?(response: JsonResponse): string
  /** The account that the credentials belong to. @throws ApiRefused */
  account(client: Client, settings: Settings): Promise<Account>
  /** The objects, in the order in which they are read. Records come before those that refer to them. */
  objects: readonly ConnectorObject[]
  /** How changes made here are written back. Absent: the system is only read. */
  writeBack?: WriteBack
  /** How notes and mails of agents are stored in the system. Absent: they are not. */
  activities?: ActivityStore
}

/** An account at a connected system. */
export interface Account {
  /** The account's permanent, unique id; null if the response does not contain it. */
  id: string | null
  /** Tells people which account they connected. */
  label: string
}

/** A kind of record, such as contacts. */
export interface ConnectorObject {
  name: string
  /** How far each read reaches back before the end of the previous one, because a search may find a change late. */
  overlapSeconds: number
  /**
   * The earlier objects that this one's records refer to, such as the contacts of activities. While the system refuses one of
   * them, this object waits, because its records could not be written. Absent: none.
   */
  needs?: readonly string[]
  /**
   * Reads the next page. A page may be read and written twice, because the position is stored after it is written. If a
   * response contains many pages, as a file does, yield them one by one. The `next` of each page says where to continue after
   * it, and the service may stop between two pages. If the last page has a `next`, `read` is called again with it.
   */
  read(client: Client, range: ReadRange): Promise<RecordsPage> | AsyncGenerator<RecordsPage>
}

/** The range to read. */
export interface ReadRange {
  /** Read records that changed since this time; null: all records. */
  since: Date | null
  /**
   * When this run started; the same for all its objects. Records that refer to others, such as events, are read only up to
   * this time, because the records that they refer to have been read up to it. The next run reads later changes.
   */
  until: Date
  /** Whether this is the first read or a reread that a person requested, not an increment. */
  isHistory: boolean
  /** The `next` of the previous page; null for the first page. */
  cursor: Json
  settings: Settings
  /** Aborts when the read must end. */
  signal: AbortSignal
  /** The contact properties that are written back. `property` must be read from `target`, and from nothing else. */
  pairs: readonly Pair[]
}

/** A contact property, and the field of the connected system that it is written to. */
export interface Pair {
  property: string
  target: string
}

/** A page of records. Companies are written first, so contacts can refer to them. */
export interface RecordsPage {
  companies?: readonly SourceCompany[]
  /** As in POST /v1/sources/:source/contacts, plus the source's id of the company. */
  contacts?: readonly ContactRecord[]
  /** Properties of people whom the system has identified. They are written before the events. */
  profiles?: readonly Profile[]
  /** Events and identifications. A failed one is listed in the connection's errors. */
  calls?: readonly SourceCall[]
  /** The messages of conversations, oldest first in each. */
  conversations?: readonly (readonly Omit<IncomingMessage, 'source'>[])[]
  /** The source's ids of deleted contacts. Those that are also in `merged` count as merged. */
  deleted?: readonly string[]
  /** The source's ids of companies that were deleted or merged in the system. The companies here stay. */
  deletedCompanies?: readonly string[]
  /** The source's ids of contacts that were merged in the system. */
  merged?: readonly { from: string; into: string }[]
  /** The cursor of the next page; null on the last page. At most 10,000 characters as JSON. */
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
 * A person and the properties that the system has for them. The person is found or created as in POST /v1/identify. The
 * properties are written as the connection's source.
 */
export interface Profile {
  /** The source's id of the person, for the error list. */
  id: string
  /** At least one of these is set. */
  userId: string | null
  /** As the system has it; a malformed one is the profile's error. */
  email: string | null
  visitorIds: readonly string[]
  properties: PropertyChanges
  /** The time of the properties, ISO 8601. Default: now. */
  updated_at?: string
}

export interface SourceCall {
  /** The source's id of the event, for the error list. An event without `sentId` gets an id derived from it. */
  id: string
  /** The source's id of the contact that the call is about, if the call does not identify anyone itself. */
  contact?: string
  /** The event of a deal, whose time and contact may change. It is recorded once nevertheless. */
  isOfDeal?: true
  /** Set for an activity of a kind that an `ActivityStore` stores. */
  activity?: ActivityRead
  call: Call | ServiceError
}

/** An activity that was read: the service may have stored it. */
export interface ActivityRead {
  /** As `ActivityStore` returns it. */
  id: string
  /** null: this kind has none. */
  subject: string | null
}

/** A note or a sent mail of an agent. */
export interface Activity {
  kind: 'note' | 'email'
  /** The system's id of the contact. */
  contact: string
  /** Of a note: a title for systems in which it needs one. */
  subject: string
  text: string
  /** The same text, without anything that a reader could run. */
  html: string
  at: Date
}

/** How a connector stores activities. */
export interface ActivityStore {
  /** Searches for an activity that an earlier attempt may have stored. @returns its id; null: it is not there. */
  find(client: Client, activity: Activity): Promise<string | null>
  /** Stores an activity. @returns its id. @throws ApiRefused */
  store(client: Client, activity: Activity): Promise<string>
}

/** How a connector writes contacts back. */
export interface WriteBack {
  /** The objects that read contacts. Nothing is written before their first complete read. */
  objects: readonly string[]
  /** The maximum number of contacts per call of `read` and `write`. */
  batchSize: number
  /** Fields that cannot be written: keys, and fields that the system computes. */
  readOnly: readonly string[]
  /** Whether `property` is read from `target` by default. */
  reads(pair: Pair): boolean
  /** A value as the system stores it, for comparing and writing; null if the system has no equivalent. */
  textOf(target: string, value: PropertyValue): string | null
  /** The names of the fields of contacts that the system allows this sign-in to write, as far as it says so. */
  fields(client: Client): Promise<ReadonlySet<string>>
  /**
   * Reads the contacts' current values in the system.
   * @returns a record for each contact; null: the system does not have it.
   */
  read(
    client: Client,
    contacts: readonly WriteBackContact[],
    targets: readonly string[],
  ): Promise<(CurrentRecord | null)[]>
  /**
   * Writes contacts, and creates those without an id, which `read` did not find. A record that fails does not affect the others.
   * If the process ends before the result is stored, the contacts are read and written again: `read` must then find a contact
   * that was created just before.
   * @returns a result for each record.
   */
  write(client: Client, records: readonly OutgoingRecord[], settings: Settings): Promise<WriteResult[]>
}

/** A contact to match with a record of the system. */
export interface WriteBackContact {
  /** The system's id; null: match by email, or create the record. */
  externalId: string | null
  /** Set if `externalId` is null. */
  email: string | null
}

/** The system's current record of a contact. */
export interface CurrentRecord {
  externalId: string
  /** By target: the system's text, and the value that a read makes of it. Targets without a value are absent. */
  values: ReadonlyMap<string, { text: string; value: PropertyValue | null }>
  /** Targets that this record cannot have, because it is of another kind than most. They are not written. */
  lacks?: ReadonlySet<string>
  createdAt: Date | null
  /** When the record was last changed there. */
  changedAt: Date | null
}

/** A contact to write. */
export interface OutgoingRecord extends WriteBackContact {
  /** The value here, and as the system stores it. An empty text clears the value, which is then null. */
  values: readonly (Pair & { value: PropertyValue | null; text: string })[]
  /** The contact's names, for a record that is created: most systems require one. */
  names: Names
}

export interface Names {
  first: string | null
  last: string | null
  company: string | null
}

export type WriteResult =
  | {
      status: 'written'
      externalId: string
      /** When the system created the record. A new source record gets this time. */
      createdAt: Date | null
      /**
       * What the system stored for the values that were sent, by our property; null if a value was cleared. Of a record that was
       * created, also the values that the system required.
       */
      stored: ReadonlyMap<string, PropertyValue | null>
    }
  | { status: 'failed'; code: string; message: string; isFinal: boolean }
