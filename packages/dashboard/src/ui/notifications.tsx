import { Notifications } from '@mantine/notifications'

/** Where notifications appear. A module of its own, because the first page can do without it. */
export function NotificationArea() {
  return <Notifications position="bottom-right" />
}
