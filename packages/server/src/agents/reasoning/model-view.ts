import { READS_DATA } from '../../operations/further-scopes.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** The scopes of an agent's model: it reads data, but no settings, no agents and no approvals. */
export const LOOK_UP_SCOPES = [...READS_DATA, 'segments:read'] as const

/** Calls of tools about one contact. */
export const TOOLS_MAX = { min: 0, max: 20, default: 8 }

/**
 * What the model of an agent can look up, and what hides personal values from it. The tools are those of the MCP server, which
 * uses agents itself, so assembly/ passes this.
 */
export interface ModelView {
  /** The tools that only read the tenant's contacts, companies, events and segments. */
  tools: readonly LookUpTool[]
  /** Performs a call. Every failure that the model can do something about is in the result. */
  lookUp(tool: string, input: Record<string, unknown>): Promise<LookedUp>
  /** A contact's data as the model may see it. */
  show<Data extends object>(data: Data): Promise<Data>
  /**
   * What the model wrote about a contact, with the real values in place of pseudonyms. @throws ServiceError 400 for a pseudonym
   * of another contact
   */
  reveal<Written>(written: Written, contactId: string): Promise<Written>
  /** The real values in place of pseudonyms that the model was shown, for people and for comparisons. */
  restore<Value>(value: Value): Value
}

/** A tool, as a model is told about it. */
export interface LookUpTool {
  name: string
  title: string
  description: string
  /** JSON Schema. */
  input: Record<string, unknown>
}

export interface LookedUp {
  /** What the model reads: data within a tag, or what is wrong with the call. */
  text: string
  /** Why it failed; null if it did not. */
  error: string | null
}

/** A call of a tool in an evaluation, as people see it in the run. */
export interface MadeCall {
  tool: string
  title: string
  arguments: Record<string, unknown>
  /** Characters of the result. */
  characters: number
  error: string | null
  at: string
}

/** Opens both for the evaluations of one run. */
export interface ModelDoor {
  /** @param redacts whether the agent hides personal values from its model; properties that the tenant hides from AI agents are hidden anyway */
  open(tenant: Tenant, agent: { id: string; name: string }, redacts: boolean): Promise<ModelView>
  /** Replaces people's values in texts, such as those of a message to another contact, with words such as `[first name]`. */
  withoutPeople(tenant: Tenant, texts: readonly string[], contactId: string): Promise<string[]>
  /** The other contacts whose email address or full name is in a text about a contact. */
  othersNamedIn(tenant: Tenant, text: string, contactId: string): Promise<string[]>
}
