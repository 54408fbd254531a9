import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'

/** The two views of events. */
export function EventTabs({ current }: { current: 'list' | 'groups' }) {
  const navigate = useNavigate()
  return (
    <Tabs
      value={current}
      mb="md"
      onChange={(tab) => navigate({ to: tab === 'groups' ? '/events/groups' : '/events' })}
      // Each is a page with its own address, so arrow keys alone do not switch.
      activateTabWithKeyboard={false}
    >
      <Tabs.List aria-label="Events">
        <Tabs.Tab value="list">List</Tabs.Tab>
        <Tabs.Tab value="groups">Groups</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  )
}
