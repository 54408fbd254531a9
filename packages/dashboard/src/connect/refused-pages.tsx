import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconWorldQuestion } from '@tabler/icons-react'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Domain } from '../api/types.ts'
import { useIsAtLeast } from '../session/may.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Foreign } from '../ui/text.tsx'
import classes from './connect.module.css'
import { text } from './text.ts'
import { useProblems } from './use-arrivals.ts'

const words = text.refused
/** A stranger can invent hosts, so the offers must not fill the page. */
const OFFERS_MAX = 3

/** Offers to add the domains of pages that tried to send events and were refused. */
export function RefusedPages() {
  const { data: problems = [] } = useProblems()
  const [added, setAdded] = useState<Domain[]>([])
  const hosts = [...new Set(problems.flatMap(({ domain_to_add: host }) => host ?? []))].slice(0, OFFERS_MAX)
  if (hosts.length === 0 && added.length === 0) return null
  return (
    <Stack gap="xs" mb="md" w="100%">
      {hosts.map((host) => (
        <Offer key={host} host={host} onAdded={(domain) => setAdded((before) => [domain, ...before])} />
      ))}
      {added.map((domain) => (
        <Added key={domain.domain_id} domain={domain} />
      ))}
    </Stack>
  )
}

function Offer({ host, onAdded }: { host: string; onAdded: (domain: Domain) => void }) {
  const isAdmin = useIsAtLeast('admin')
  const adding = useOperation('addDomain', { onDone: ({ domain }) => onAdded(domain) })
  return (
    <Alert color="yellow" icon={<IconWorldQuestion aria-hidden />} role="status">
      <Group gap="sm" justify="space-between">
        <Text size="sm" flex="1 1 200px" className={classes.what}>
          <Foreign max={300}>{words.tried(host)}</Foreign> {isAdmin ? words.ask : words.adminsOnly}
        </Text>
        {isAdmin ? (
          <Button
            size="xs"
            aria-label={words.addHost(host)}
            loading={adding.isPending}
            onClick={() => adding.mutate({ domain: host })}
          >
            {words.add}
          </Button>
        ) : null}
      </Group>
      {adding.error ? (
        <Text size="sm" c="red" role="alert" mt="xs">
          <Problem error={adding.error} />
        </Text>
      ) : null}
    </Alert>
  )
}

/** What is left to do for a domain that was just added. */
function Added({ domain: { domain, verified_at: verifiedAt } }: { domain: Domain }) {
  return (
    <Alert color="teal" icon={<IconCircleCheck aria-hidden />} role="status">
      <Text size="sm" className={classes.what}>
        <Foreign max={300}>{words.added(domain)}</Foreign>{' '}
        {verifiedAt === null ? (
          <AnchorLink inherit c="inherit" underline="always" to="/settings/domains">
            {words.prove}
          </AnchorLink>
        ) : (
          words.reload
        )}
      </Text>
    </Alert>
  )
}
