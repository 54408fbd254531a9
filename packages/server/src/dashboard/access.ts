/**
 * Who may use a route of the dashboard that has no scope of its own. A viewer looks, a member arranges what everybody
 * sees (views, segments), an administrator decides where data goes and who may have it.
 */
export const VIEWER = 'contacts:read' as const
export const MEMBER = 'contacts:write' as const
export const ADMIN = 'agents:write' as const
