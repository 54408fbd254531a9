/** The stylesheets of the whole dashboard, in the required order. */
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './inter/inter.css'
import './global.css'
