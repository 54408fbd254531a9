/**
 * Who may use a route of the dashboard that has no scope of its own. A viewer looks, a member arranges what everybody
 * sees (views, segments), an administrator decides where data goes and who may have it.
 */
export const VIEWER = { role: 'viewer' } as const
export const ADMIN = { role: 'admin' } as const
