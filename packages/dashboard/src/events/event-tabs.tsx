import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'

/** The two ways to look at events. */
export function EventTabs({ current }: { current: 'list' | 'groups' }) {
  const navigate = useNavigate()
  return (
    <Tabs
      value={current}
      mb="md"
      onChange={(tab) => navigate({ to: tab === 'groups' ? '/events/groups' : '/events' })}
      // Each is a page with an address of its own: choosing happens with Enter, not by passing over it.
      activateTabWithKeyboard={false}
    >
      <Tabs.List aria-label="Events">
        <Tabs.Tab value="list">List</Tabs.Tab>
        <Tabs.Tab value="groups">Groups</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  )
}
