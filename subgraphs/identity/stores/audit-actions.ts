/**
 * Everything that the record of identity tells, and what kind of thing each is about. Who writes another one fails; and a test looks whether
 * each of them is written anywhere.
 */
export const targetTypes = {
  'account.created': 'user',
  'account.suspended': 'user',
  'account.reinstated': 'user',
  'session.created': 'session',
  'session.refused': 'user',
  'session.revoked': 'session',
  'context.switched': 'session',
  'password.reset_requested': 'user',
  'password.reset': 'user',
  'password.changed': 'user',
  'email.verified': 'user',
  'email.changed': 'user',
  'recovery_email.set': 'user',
  'recovery_email.verified': 'user',
  'recovery_email.removed': 'user',
  'organization.created': 'organization',
  'organization.updated': 'organization',
  'invitation.created': 'invitation',
  'invitation.resent': 'invitation',
  'invitation.accepted': 'invitation',
  'invitation.declined': 'invitation',
  'invitation.revoked': 'invitation',
  'membership.added': 'membership',
  'membership.roles_changed': 'membership',
  'membership.removed': 'membership',
  'service_account.created': 'user',
  'api_key.created': 'api_key',
  'api_key.rotated': 'api_key',
  'api_key.revoked': 'api_key',
  'handoff.created': 'handoff',
  'handoff.exchanged': 'handoff',
  'handoff.refused': 'handoff',
  'consent.granted': 'consent',
  'consent.revoked': 'consent',
  'oauth.token_reused': 'session',
  'oauth_client.created': 'oauth_client',
  'oauth_client.updated': 'oauth_client',
  'oauth_client.disabled': 'oauth_client',
  'signing_key.rotated': 'signing_key',
  'service.conflict': 'service',
  'service.maintenance_set': 'service',
  'service.maintenance_ended': 'service',
} as const

export type Action = keyof typeof targetTypes

export const isAction = (action: string): action is Action => Object.hasOwn(targetTypes, action)
