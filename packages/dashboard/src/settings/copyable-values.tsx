import { Group, Table, Text } from '@mantine/core'
import { CopyButton } from '../ui/copy-button.tsx'

interface CopyableValuesProps {
  /** `copy` names the value for the button that copies it; without one there is no button. */
  rows: { label: string; value: string; copy?: string }[]
}

/** Values to copy to another place, one a row. */
export function CopyableValues({ rows }: CopyableValuesProps) {
  return (
    <Table withRowBorders={false} verticalSpacing={4} horizontalSpacing={0} layout="fixed">
      <Table.Tbody>
        {rows.map(({ label, value, copy }) => (
          <Table.Tr key={label}>
            <Table.Th w={108} fw={400} c="dimmed" scope="row" style={{ verticalAlign: 'top' }}>
              {label}
            </Table.Th>
            <Table.Td>
              <Group gap={6} wrap="nowrap" align="flex-start">
                <Text ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {value}
                </Text>
                {copy === undefined ? null : <CopyButton value={value} label={copy} />}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
