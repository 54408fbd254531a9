import { Alert, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, type LinkOptions } from '@tanstack/react-router'
import { useState } from 'react'
import { queryOf } from '../api/operation.ts'
import { trackerQuery } from '../api/tracker.ts'
import { useMe } from '../session/may.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SettingsPart } from '../ui/settings-part.tsx'
import { Snippet } from '../ui/snippet.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { GuideKey } from './guide-key.tsx'
import { isKind, KINDS, type KindName } from './kinds.ts'
import { Light } from './light.tsx'
import { NO_KEY, SNIPPETS } from './snippets.ts'
import { text } from './text.ts'

const route = getRouteApi('/shell/connect/$kind')

/** Pages where a guide goes on. */
const ACTIONS: Partial<Record<KindName, { label: string; link: LinkOptions }[]>> = {
  website: [
    { label: text.actions.tracker, link: { to: '/settings/tracker' } },
    { label: text.actions.debugger, link: { to: '/connect/debugger' } },
  ],
  nextjs: [{ label: text.actions.debugger, link: { to: '/connect/debugger' } }],
  wordpress: [{ label: text.actions.debugger, link: { to: '/connect/debugger' } }],
  segment: [
    { label: text.actions.sources, link: { to: '/settings/sources' } },
    { label: text.actions.debugger, link: { to: '/connect/debugger' } },
  ],
  hubspot: [{ label: text.actions.hubspot, link: { to: '/imports/new' } }],
  systems: [
    { label: text.actions.systems, link: { to: '/connections/new' } },
    { label: text.actions.allSystems, link: { to: '/connections' } },
  ],
  mailbox: [{ label: text.actions.mailbox, link: { to: '/identities' } }],
  webhooks: [{ label: text.actions.webhooks, link: { to: '/webhooks/new' } }],
  mcp: [{ label: text.actions.apps, link: { to: '/settings/connected-apps' } }],
}

/** The scopes of the key in a guide's code. */
const SCOPES: Partial<Record<KindName, string[]>> = {
  node: ['contacts:write', 'events:write'],
  python: ['contacts:write', 'events:write'],
  hubspot: ['contacts:write'],
  mcp: ['contacts:read', 'companies:read', 'events:read', 'segments:read'],
}

/** How to connect one thing: the steps, the code with everything filled in, and whether it works. */
export function GuidePage() {
  const { kind } = route.useParams()
  // For unknown kinds, the route shows "not found".
  return isKind(kind) ? <Guide key={kind} kind={kind} /> : null
}

function Guide({ kind }: { kind: KindName }) {
  const { proof } = KINDS[kind]
  const { title, description, steps } = text.kinds[kind]
  const { tenant } = useMe()
  const [apiKey, setApiKey] = useState<string | null>(null)
  const tracker = useQuery(trackerQuery)
  const verified = useQuery({
    ...queryOf('listDomains', { limit: 1, verified: true }),
    enabled: proof.by === 'tracker',
  })
  const filling = tracker.data && {
    origin: new URL(tracker.data.script_url).origin,
    scriptUrl: tracker.data.script_url,
    tenantId: tenant.tenant_id,
    apiKey: apiKey ?? NO_KEY,
  }
  return (
    <>
      <PageHeader
        title={title}
        description={description}
        breadcrumb={
          <AnchorLink inherit to="/integrations">
            {text.back}
          </AnchorLink>
        }
      />
      {tracker.error && !filling ? <ErrorState error={tracker.error} onRetry={tracker.refetch} /> : null}
      {!tracker.error && !filling ? <LoadingState lines={8} /> : null}
      {filling ? (
        <Stack gap="md" maw={900}>
          <Light proof={proof} isWaiting />
          <Text size="sm">{steps}</Text>
          {verified.data?.domains.length === 0 ? (
            <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />}>
              {text.domain.missing}{' '}
              <AnchorLink inherit underline="always" to="/settings/domains">
                {text.domain.link}
              </AnchorLink>
            </Alert>
          ) : null}
          {proof.by === 'key' ? (
            <GuideKey
              name={proof.name}
              scopes={SCOPES[kind] ?? []}
              isForAgent={kind === 'mcp'}
              isCreated={apiKey !== null}
              onCreated={setApiKey}
            />
          ) : null}
          {SNIPPETS[kind](filling).map((snippet) => (
            <SettingsPart key={snippet.id} title={snippet.title}>
              <Snippet code={snippet.code} label={snippet.title} />
            </SettingsPart>
          ))}
          <Group gap="xs">
            {(ACTIONS[kind] ?? []).map(({ label, link }) => (
              <ButtonLink key={label} variant="default" {...link}>
                {label}
              </ButtonLink>
            ))}
          </Group>
        </Stack>
      ) : null}
    </>
  )
}
