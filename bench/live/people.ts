import { memoryAuthority } from '../../test/door/authority.ts'

/** Creates people, each with a session and an access token, as owners of the organizations in turn. */
export async function openPeople(people: number, organizations: readonly string[]) {
  const { authority, clock, addSigningKey, signIn, token } = await memoryAuthority('http://localhost')
  await addSigningKey('bench')
  const credentials = await Promise.all(
    Array.from({ length: people }, (_, person) => {
      signIn(`session-${person}`, { organizationId: organizations[person % organizations.length]!, roles: ['owner'] })
      return token(`session-${person}`).then(text => `Bearer ${text}`)
    }),
  )
  return { authority, clock, credentials }
}
