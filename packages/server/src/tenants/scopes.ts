/** What an API key may be allowed to do; the names are the interface's. */
export const SCOPES = [
  'contacts:read',
  'contacts:write',
  'companies:read',
  'companies:write',
  'events:read',
  'segments:read',
  'agents:read',
  'agents:write',
  'agents:trigger',
  'agents:approve',
  'identities:read',
  'identities:write',
  'settings:read',
  'settings:write',
] as const

export type Scope = (typeof SCOPES)[number]

/** Whether a text names a scope. */
export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text)
}
