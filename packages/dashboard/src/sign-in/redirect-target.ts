/** Where a sign-in leads: to the requested page of the dashboard, and never to another site, as `//evil.example` would. */
export function redirectTarget(redirect: string | undefined): string {
  return redirect !== undefined && /^\/(?![/\\])/.test(redirect) ? redirect : '/'
}
