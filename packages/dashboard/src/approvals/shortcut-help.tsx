import { Button, Group, Kbd, Modal, Stack, Switch, Table, Text } from '@mantine/core'
import type { useDisclosure } from '@mantine/hooks'
import { IconKeyboard } from '@tabler/icons-react'

const KEYS: [keys: string[], meaning: string][] = [
  [['j'], 'Next action'],
  [['k'], 'Previous action'],
  [['a'], 'Approve it'],
  [['e'], 'Edit it, then approve'],
  [['r'], 'Reject it with a reason'],
  [['x'], 'Select it for a bulk decision'],
  [['?'], 'This help'],
]

interface ShortcutHelpProps {
  disclosure: ReturnType<typeof useDisclosure>
  isOn: boolean
  onToggle: (isOn: boolean) => void
}

/** Lists the keyboard shortcuts, and switches them off. */
export function ShortcutHelp({ disclosure: [isOpen, { open, close }], isOn, onToggle }: ShortcutHelpProps) {
  return (
    <>
      <Button variant="default" leftSection={<IconKeyboard size={16} aria-hidden />} onClick={open} visibleFrom="sm">
        Shortcuts
      </Button>
      <Modal opened={isOpen} onClose={close} title="Keyboard shortcuts">
        <Stack>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w={80}>Key</Table.Th>
                <Table.Th>What it does</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {KEYS.map(([keys, meaning]) => (
                <Table.Tr key={meaning}>
                  <Table.Td>
                    <Group gap={4}>
                      {keys.map((key) => (
                        <Kbd key={key}>{key}</Kbd>
                      ))}
                    </Group>
                  </Table.Td>
                  <Table.Td>{meaning}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          <Text size="sm" c="dimmed">
            They are inactive while you type in a field.
          </Text>
          <Switch
            label="Use these shortcuts"
            checked={isOn}
            onChange={({ currentTarget: { checked } }) => onToggle(checked)}
          />
        </Stack>
      </Modal>
    </>
  )
}
