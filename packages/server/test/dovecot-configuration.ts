import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { ServerUser } from '../src/platform/embedded/unprivileged-user.ts'

/** Dovecot needs the names of groups. */
function groupName(gid: number): string {
  const groups = readFileSync('/etc/group', 'utf8').split('\n')
  return groups.find((line) => line.split(':')[2] === String(gid))?.split(':')[0] ?? String(gid)
}

/** How Dovecot before 2.4 checks access tokens: a file of its own. */
export function tokenSettings(port: number): string {
  return `
tokeninfo_url = http://127.0.0.1:${port}/?token=
username_attribute = user
active_attribute = active
active_value = true
`
}

interface Ports {
  port: number
  tlsPort: number
  tokenPort: number
}

/** The settings of the version that is installed. */
export function configuration(dovecot: string, directory: string, owner: ServerUser, ports: Ports): string {
  const { name, gid } = owner
  const isRenamed = /^(2\.[4-9]|[3-9])/.test(execFileSync(dovecot, ['--version'], { encoding: 'utf8' }))
  const settings = isRenamed ? settingsSince24 : settingsBefore24
  return `${settings(directory, owner, ports)}
base_dir = ${directory}/state
state_dir = ${directory}/state
log_path = ${directory}/state/log
listen = 127.0.0.1
protocols = imap
default_internal_user = ${name}
default_internal_group = ${groupName(gid)}
default_login_user = ${name}
first_valid_uid = 1
first_valid_gid = 1
ssl = yes
auth_mechanisms = plain login xoauth2 oauthbearer
auth_failure_delay = 0
mail_max_userip_connections = 100
namespace inbox {
  inbox = yes
  mailbox Sent {
    special_use = \\Sent
    auto = subscribe
  }
}
service anvil {
  chroot =
  # Otherwise a wrong password would delay the next attempt.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports.port}
  }
  inet_listener imaps {
    port = ${ports.tlsPort}
    ssl = yes
  }
}
`
}

/** Until Debian 12. */
function settingsBefore24(directory: string, { uid, gid }: ServerUser): string {
  return `
ssl_cert = <${directory}/certificate.pem
ssl_key = <${directory}/key.pem
disable_plaintext_auth = no
mail_location = maildir:${directory}/mail/%u
passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = ${directory}/oauth2
}
passdb {
  driver = static
  mechanisms = plain login
  args = password=password-of-%u
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${directory}/mail/%u
}
`
}

/** Dovecot 2.4, from Debian 13 on, has other names for them: https://doc.dovecot.org/2.4.1/installation/upgrade/2.3-to-2.4.html */
function settingsSince24(directory: string, { uid, gid }: ServerUser, { tokenPort }: Ports): string {
  return `
dovecot_config_version = 2.4.0
dovecot_storage_version = 2.4.0
ssl_server_cert_file = ${directory}/certificate.pem
ssl_server_key_file = ${directory}/key.pem
auth_allow_cleartext = yes
mail_driver = maildir
mail_path = ${directory}/mail/%{user}
oauth2 {
  ${tokenSettings(tokenPort)}
  introspection_mode = auth
}
passdb oauth2 {
  mechanisms_filter = xoauth2 oauthbearer
}
passdb static {
  mechanisms_filter = plain login
  password = password-of-%{user}
}
userdb static {
  fields {
    uid = ${uid}
    gid = ${gid}
    home = ${directory}/mail/%{user}
  }
}
`
}
