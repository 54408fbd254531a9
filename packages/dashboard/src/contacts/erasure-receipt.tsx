import { Alert, Group, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { ErasureReceipt as Receipt } from '../api/types.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatMoment, formatNumber } from '../ui/format.ts'
import { propertyLabel } from '../ui/property-value.ts'
import { text } from './text.ts'

const REFRESH_MS = 1_000

/** The receipt of an erasure: proof without personal data. */
export function ErasureReceipt({ first }: { first: Receipt }) {
  const { receipt } = useQuery({
    ...queryOf('getErasure', { erasure_id: first.erasure_id }),
    initialData: { status: 'success', receipt: first },
    // Until everything is removed: long work goes on in the background.
    refetchInterval: ({ state }) => (state.data?.receipt.status === 'running' ? REFRESH_MS : false),
  }).data
  const removed = Object.entries(receipt.removed)
  return (
    <Stack gap="sm">
      {receipt.status === 'running' ? (
        <Group gap="xs" role="status">
          <Loader size={16} aria-hidden />
          <Text size="sm">{text.erase.running}</Text>
        </Group>
      ) : (
        <Alert color="green" role="status">
          {text.erase.erasedOn(formatMoment(receipt.erased_at ?? receipt.at))}
        </Alert>
      )}
      <Facts facts={removed.map(([what, count]) => [propertyLabel(what), formatNumber(count)])} />
      <Text size="xs" c="dimmed">
        {text.erase.receipt(receipt.erasure_id)}
      </Text>
      <div>
        <CopyButton value={JSON.stringify(receipt, null, 2)} label={text.erase.toCopy} withText />
      </div>
    </Stack>
  )
}
