import { Group, Kbd, Modal, Stack, Switch, Table, Text } from '@mantine/core'
import { useShortcutGroups, useShortcutsSwitch } from '../ui/shortcuts.ts'
import { text } from './text.ts'

/** Lists the keyboard shortcuts that work on this page, and switches them off. */
export function ShortcutHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const groups = useShortcutGroups()
  const [isOn, setOn] = useShortcutsSwitch()
  return (
    <Modal opened={isOpen} onClose={onClose} title={text.shortcuts.title}>
      <Stack>
        {groups.toReversed().map(({ title, shortcuts }) => (
          <Table key={title} verticalSpacing={6} horizontalSpacing={0} layout="fixed">
            <Table.Caption fz="sm" fw={600} ta="left" m={0} style={{ captionSide: 'top' }}>
              {title}
            </Table.Caption>
            <Table.Tbody>
              {shortcuts.map(({ keys, label }) => (
                <Table.Tr key={keys}>
                  <Table.Td w={112}>
                    <Keys keys={keys} />
                  </Table.Td>
                  <Table.Th fw={400} scope="row">
                    {label}
                  </Table.Th>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        ))}
        <Text size="sm" c="dimmed">
          {text.shortcuts.note}
        </Text>
        <Switch
          label={text.shortcuts.use}
          checked={isOn}
          onChange={({ currentTarget: { checked } }) => setOn(checked)}
        />
      </Stack>
    </Modal>
  )
}

/** `g c` as two keys in a row, `Ctrl+K` as two at once. */
function Keys({ keys }: { keys: string }) {
  return (
    <Group gap={4}>
      {keys.split(/[ +]/).map((key) => (
        <Kbd key={key}>{key}</Kbd>
      ))}
    </Group>
  )
}
