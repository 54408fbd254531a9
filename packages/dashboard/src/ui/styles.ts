/** The stylesheets of the whole dashboard, in the order in which they must come. */
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './global.css'
