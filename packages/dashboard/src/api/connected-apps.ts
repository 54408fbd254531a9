import { queryOptions } from '@tanstack/react-query'
import type { ConsentResponse } from '../../../server/src/access/oauth/consent.ts'
import { get, send } from './client.ts'

export type Refused = NonNullable<ConsentResponse['refusal']>
export type Consent = NonNullable<ConsentResponse['consent']>

/** What an application asks for. @param query the query with which it sent the person here. */
export const consentQuery = (query: string) =>
  queryOptions({
    queryKey: ['consent', query],
    queryFn: ({ signal }) => get<ConsentResponse>('/api/oauth/authorization', { query }, signal),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: query !== '',
  })

/** @returns the URL that takes the person back to the application. */
export async function allowApplication(decision: {
  query: string
  tenant_id: string
  scopes: string[]
  redact_personal_data: boolean
  tools: string[]
}): Promise<string> {
  const { redirect_to } = await send<{ redirect_to: string }>('POST', '/api/oauth/authorization', decision)
  return redirect_to
}
