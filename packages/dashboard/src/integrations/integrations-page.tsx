import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import {
  type Icon,
  IconAddressBook,
  IconApi,
  IconArrowsExchange,
  IconBug,
  IconDatabaseExport,
  IconFileTypeCsv,
  IconKey,
  IconMail,
  IconPlugConnected,
  IconRefresh,
  IconRobot,
  IconServer,
  IconTransferIn,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react'
import { type LinkOptions, linkOptions } from '@tanstack/react-router'
import { useMay } from '../session/may.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import classes from './integrations.module.css'
import { type CardName, type State, useStates } from './states.ts'
import { text } from './text.ts'

interface Integration {
  name: CardName
  icon: Icon
  /** Where it is managed, or set up while there is nothing. */
  open: LinkOptions
  /** Sets it up; the page that manages it if there is no other. */
  add?: LinkOptions
  /** The scope that setting it up needs. */
  scope?: string
  guides?: (keyof typeof text.guides)[]
}

const guide = (kind: string) => linkOptions({ to: '/connect/$kind', params: { kind } })

const GROUPS: [keyof typeof text.groups, Integration[]][] = [
  [
    'in',
    [
      {
        name: 'website',
        icon: IconWorld,
        open: guide('website'),
        add: guide('website'),
        guides: ['nextjs', 'wordpress'],
      },
      { name: 'servers', icon: IconServer, open: guide('node'), guides: ['node', 'python'] },
      { name: 'segment', icon: IconArrowsExchange, open: guide('segment') },
      {
        name: 'systems',
        icon: IconRefresh,
        open: linkOptions({ to: '/connections' }),
        add: linkOptions({ to: '/connections/new' }),
        scope: 'settings:write',
        guides: ['hubspot'],
      },
      {
        name: 'hooks',
        icon: IconTransferIn,
        open: linkOptions({ to: '/hooks' }),
        add: linkOptions({ to: '/hooks/new' }),
        scope: 'settings:write',
      },
      {
        name: 'imports',
        icon: IconFileTypeCsv,
        open: linkOptions({ to: '/imports' }),
        add: linkOptions({ to: '/imports/new' }),
        scope: 'contacts:write',
      },
      { name: 'mailbox', icon: IconMail, open: linkOptions({ to: '/identities' }), add: guide('mailbox') },
    ],
  ],
  [
    'out',
    [
      {
        name: 'webhooks',
        icon: IconWebhook,
        open: linkOptions({ to: '/webhooks' }),
        add: linkOptions({ to: '/webhooks/new' }),
        scope: 'webhooks:write',
      },
      {
        name: 'warehouse',
        icon: IconDatabaseExport,
        open: linkOptions({ to: '/settings/warehouse' }),
        add: linkOptions({ to: '/settings/warehouse', search: { dialog: true } }),
        scope: 'data:export',
      },
      { name: 'writeBack', icon: IconAddressBook, open: linkOptions({ to: '/connections' }) },
    ],
  ],
  [
    'developers',
    [
      { name: 'mcp', icon: IconRobot, open: linkOptions({ to: '/settings/connected-apps' }), add: guide('mcp') },
      {
        name: 'keys',
        icon: IconKey,
        open: linkOptions({ to: '/settings/keys' }),
        add: linkOptions({ to: '/settings/keys', search: { dialog: true } }),
        scope: 'keys:write',
      },
      { name: 'sources', icon: IconApi, open: linkOptions({ to: '/settings/sources' }) },
      { name: 'oauth', icon: IconPlugConnected, open: linkOptions({ to: '/settings/oauth-clients' }) },
    ],
  ],
]

/** Everything that sends data here or gets it from here: what is connected, and what could be. */
export function IntegrationsPage() {
  const states = useStates()
  return (
    <>
      <PageHeader
        title={text.title}
        description={text.description}
        actions={
          <ButtonLink variant="default" leftSection={<IconBug size={16} aria-hidden />} to="/connect/debugger">
            {text.debugger}
          </ButtonLink>
        }
      />
      <Stack gap="xl">
        {GROUPS.map(([group, integrations]) => (
          <section key={group} aria-labelledby={`integrations-${group}`}>
            <Title order={2} size="h4" mb="sm" id={`integrations-${group}`}>
              {text.groups[group]}
            </Title>
            <SimpleGrid cols={{ base: 1, xs: 2, lg: 3, xl: 4 }} spacing="md">
              {integrations.map((integration) => (
                <IntegrationCard key={integration.name} integration={integration} state={states[integration.name]} />
              ))}
            </SimpleGrid>
          </section>
        ))}
      </Stack>
    </>
  )
}

function IntegrationCard({ integration, state }: { integration: Integration; state: State | undefined }) {
  const { name, icon: Icon, open, add, scope, guides = [] } = integration
  const { title, description, ...words } = text.cards[name]
  const mayAdd = useMay(scope ?? 'settings:read') || scope === undefined
  const exists = state?.exists === true
  // What is not there yet is set up; everything else is managed.
  const link = exists || add === undefined ? open : add
  const action = exists ? text.manage : 'action' in words ? words.action : text.setUp
  return (
    <Card className={classes.card}>
      <Group gap="sm" wrap="nowrap" mb={4}>
        <Icon size={22} stroke={1.6} aria-hidden />
        <Title order={3} size="h5">
          <AnchorLink inherit c="inherit" className={classes.open} {...open}>
            {title}
          </AnchorLink>
        </Title>
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        {description}
      </Text>
      <Group justify="space-between" gap="xs" mt="auto" mih={30}>
        <Group gap={8} wrap="nowrap">
          {state ? (
            <>
              <span className={classes.light} data-state={state.light} aria-hidden />
              <Text size="xs" c={state.light === 'failing' ? 'red' : 'dimmed'}>
                {state.words}
              </Text>
            </>
          ) : null}
        </Group>
        <Group gap="xs" className={classes.actions}>
          {guides.map((each) => (
            <AnchorLink key={each} size="xs" {...guide(each)}>
              {text.guides[each]}
            </AnchorLink>
          ))}
          {mayAdd && (exists || add !== undefined || guides.length === 0) ? (
            <ButtonLink
              variant={exists ? 'default' : 'light'}
              size="compact-sm"
              aria-label={text.actionFor(action, title)}
              {...link}
            >
              {action}
            </ButtonLink>
          ) : null}
        </Group>
      </Group>
    </Card>
  )
}
