import { Alert, Stack, Tabs, Text } from '@mantine/core'
import type { Domain, VerifyDomainResult } from '../api/types.ts'
import { Foreign } from '../ui/text.tsx'
import { CopyableValues } from './copyable-values.tsx'
import { text } from './domains-text.ts'

const { ways } = text
const SHOWN_LENGTH = 120

/** The three ways to prove that a domain is one's own, each ready to copy. */
export function DomainProof({ domain }: { domain: Domain }) {
  const { dns, file, meta } = ways
  return (
    <Tabs defaultValue="dns" mt="sm">
      <Tabs.List aria-label={ways.label(domain.domain)}>
        <Tabs.Tab value="dns">{dns.tab}</Tabs.Tab>
        <Tabs.Tab value="file">{file.tab}</Tabs.Tab>
        <Tabs.Tab value="meta">{meta.tab}</Tabs.Tab>
      </Tabs.List>
      <Way value="dns" explanation={dns.explanation}>
        {[
          { label: dns.type, value: dns.typeValue },
          { label: dns.name, value: domain.txt_name, copy: dns.copyName },
          { label: dns.value, value: domain.txt_value, copy: dns.copyValue },
        ]}
      </Way>
      <Way value="file" explanation={file.explanation}>
        {[
          { label: file.url, value: domain.file_url, copy: file.copyUrl },
          { label: file.content, value: domain.file_content, copy: file.copyContent },
        ]}
      </Way>
      <Way value="meta" explanation={meta.explanation}>
        {[{ label: meta.tag, value: domain.meta_tag, copy: meta.copyTag }]}
      </Way>
    </Tabs>
  )
}

interface WayProps {
  value: string
  explanation: string
  children: { label: string; value: string; copy?: string }[]
}

function Way({ value, explanation, children }: WayProps) {
  return (
    <Tabs.Panel value={value} pt="xs">
      <Text size="sm" mb={4}>
        {explanation}
      </Text>
      <CopyableValues rows={children} />
    </Tabs.Panel>
  )
}

/** Which proof was found; without one, what each place has instead. */
export function CheckResult({ check: { method, attempts } }: { check: VerifyDomainResult['check'] }) {
  if (method !== null) {
    return (
      <Alert color="green" role="status" mt="sm">
        {text.found[method]}
      </Alert>
    )
  }
  return (
    <Alert color="yellow" role="status" mt="sm" title={text.notFound}>
      <Stack component="ul" gap={4} m={0} pl="md">
        {attempts.map(({ method: place, outcome, found }) => (
          <li key={place}>
            <Text span size="sm" fw={550}>
              {text.places[place]}
            </Text>
            <Text span size="sm">{`: ${text.outcomes[place][outcome]}`}</Text>
            {outcome === 'other_value' ? <FoundValues values={found} /> : null}
          </li>
        ))}
      </Stack>
    </Alert>
  )
}

function FoundValues({ values }: { values: string[] }) {
  return (
    <Stack component="ul" gap={2} mb={0} mt={2} pl="md">
      {[...new Set(values)].map((value) => (
        <Text component="li" key={value} ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Foreign max={SHOWN_LENGTH}>{value}</Foreign>
        </Text>
      ))}
    </Stack>
  )
}
