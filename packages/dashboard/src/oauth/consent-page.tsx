import { Alert, Button, NativeSelect, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConsentResponse } from '../../../server/src/access/oauth/consent.ts'
import { ApiError, get, send } from '../api/client.ts'
import { keptQuery } from '../session/kept-query.ts'
import { meQuery } from '../session/session.ts'
import { EntryFrame } from '../sign-in/entry-frame.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { isolated } from '../ui/text.tsx'
import { ALL_TOOLS, ToolChoice, toolsWithin } from '../ui/tool-choice.tsx'
import { ScopeChoice } from './scope-choice.tsx'
import { text } from './text.ts'

type Consent = NonNullable<ConsentResponse['consent']>
type Refused = NonNullable<ConsentResponse['refusal']>

/** Not an operation: only a browser asks, with the query with which the application sent the person here. */
const AUTHORIZATION = '/api/oauth/authorization'

/** Asks a person whether an application may act for them, and with which scopes. */
export function ConsentPage() {
  const [query] = useState(() => keptQuery('/oauth/authorize'))
  const { data, error } = useQuery({
    queryKey: ['consent', query],
    queryFn: ({ signal }) => get<ConsentResponse>(AUTHORIZATION, { query }, signal),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: query !== '',
  })
  // A person who is not signed in is on the way to the sign-in page.
  const isSignedOut = error instanceof ApiError && error.status === 401
  if (data?.consent) return <ConsentForm query={query} consent={data.consent} />
  if (data?.refusal) return <Refusal refusal={data.refusal} />
  return (
    <EntryFrame title={text.title} error={isSignedOut ? null : error}>
      {query === '' ? <Text size="sm">{text.empty}</Text> : null}
      {query !== '' && (error === null || isSignedOut) ? <LoadingState lines={4} /> : null}
    </EntryFrame>
  )
}

/** An application that asks wrongly. Anyone can register one, so the person decides whether to go where it wants. */
function Refusal({ refusal }: { refusal: Refused }) {
  const { application, message, redirect_host: host, redirect_to: url } = refusal
  return (
    <EntryFrame title={text.titleOf(isolated(quoted(application)))} error={new Error(text.refused(message))}>
      <Button variant="default" onClick={() => window.location.assign(url)} fullWidth>
        {text.returnTo(isolated(host))}
      </Button>
    </EntryFrame>
  )
}

const quoted = (name: string) => `“${name}”`

function ConsentForm({ query, consent }: { query: string; consent: Consent }) {
  const { application, redirect_host: host, is_local: isLocal, tenants, active_tenant_id: active } = consent
  const name = isolated(quoted(application))
  const { data: me } = useQuery(meQuery)
  const [tenantId, setTenantId] = useState(active ?? tenants[0]?.tenant_id ?? '')
  const [chosen, setChosen] = useState(consent.requested_scopes)
  const [redacts, setRedacts] = useState(true)
  const [tools, setTools] = useState(ALL_TOOLS)
  const [isLeaving, setLeaving] = useState(false)
  const possible = tenants.find(({ tenant_id }) => tenant_id === tenantId)?.scopes ?? []
  const scopes = chosen.filter((scope) => possible.includes(scope))
  const leave = (url: string) => {
    setLeaving(true)
    window.location.assign(url)
  }
  const allowing = useMutation({
    mutationFn: () => {
      const decision = { query, tenant_id: tenantId, scopes, redact_personal_data: redacts, tools }
      return send<{ redirect_to: string }>('POST', AUTHORIZATION, decision)
    },
    onSuccess: ({ redirect_to: url }) => leave(url),
  })
  if (isLeaving || tenants.length === 0) {
    return (
      <EntryFrame title={text.titleOf(name)}>
        <Text size="sm">{isLeaving ? text.leaving : text.noWorkspace}</Text>
      </EntryFrame>
    )
  }
  const place = isolated(host)
  return (
    <EntryFrame title={text.titleOf(name)} description={text.description}>
      <Form onSubmit={() => allowing.mutate()}>
        <Alert color="yellow">
          {text.warning(name)} {isLocal ? text.backHere(place) : text.back(place)}
        </Alert>
        <NativeSelect
          label={text.workspace}
          {...(me ? { description: text.account(me.user.email) } : {})}
          value={tenantId}
          onChange={(event) => setTenantId(event.currentTarget.value)}
          data={tenants.map(({ tenant_id: value, name: label }) => ({ value, label }))}
        />
        <ScopeChoice possible={possible} chosen={scopes} onChange={setChosen} />
        <Switch
          label={text.redact.label}
          description={text.redact.description}
          checked={redacts}
          onChange={(event) => setRedacts(event.currentTarget.checked)}
        />
        <ToolChoice tools={toolsWithin(consent.tools, scopes)} chosen={tools} onChange={setTools} />
        <Text size="sm" c="dimmed">
          {text.end}
        </Text>
        {allowing.isError ? <ErrorState error={allowing.error} /> : null}
        <Stack gap="xs">
          <Button type="submit" loading={allowing.isPending} disabled={scopes.length === 0} fullWidth>
            {text.allow}
          </Button>
          <Button variant="default" onClick={() => leave(consent.cancel_to)} fullWidth>
            {text.cancel}
          </Button>
        </Stack>
      </Form>
    </EntryFrame>
  )
}
