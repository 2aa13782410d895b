const style = `writingStyle { tone formality sentenceLength vocabulary dos donts signaturePhrases } speakingStyle { pace cadence fillers pronunciations }`
const profile = `{ id displayName status subject { id name } organization { id name } ${style} personaRules usagePolicies { product purpose allowed expiresAt }
  authorizations { id kind reference grantedBy grantedAt expiresAt revokedAt } voiceProfiles { provider externalId label }
  activeSnapshot { id } version createdAt updatedAt }`
const source = '{ id profile { id } kind title url text contentHash language status failure { code message } capturedBy { id } capturedAt }'
const snapshot = `{ id profile { id } number active sources { id text } ${style} summary model justTaken createdBy { id } createdAt
  measures { words sentences wordsPerSentence questionShare exclamationShare typeTokenRatio } }`

export const createPersonProfile = `mutation($input: CreatePersonProfileInput!) { createPersonProfile(input: $input) ${profile} }`
export const personProfile = `query($id: ID!) { personProfile(id: $id) ${profile} }`
export const personProfiles = `query($subjectId: ID, $status: PersonProfileStatus, $first: Int, $after: String) {
  personProfiles(subjectId: $subjectId, status: $status, first: $first, after: $after) { nodes { id displayName } pageInfo { hasNextPage endCursor } totalCount } }`
export const createProfileSource = `mutation($input: CreateProfileSourceInput!) { createProfileSource(input: $input) ${source} }`
export const profileSource = `query($id: ID!) { profileSource(id: $id) ${source} }`
export const createStyleSnapshot = `mutation($input: CreateStyleSnapshotInput!) { createStyleSnapshot(input: $input) ${snapshot} }`
export const styleSnapshot = `query($id: ID!) { styleSnapshot(id: $id) ${snapshot} }`
/** A snapshot may have 500 sources, and a text weighs 20 against the cost that an operation may have. */
const snapshotWithoutTexts = snapshot.replace('sources { id text }', 'sources { id }')
/** Everything below a profile. */
export const wholeProfile = `query($id: ID!) { personProfile(id: $id) { id sources { nodes ${source} totalCount }
  snapshots(first: 5) { nodes ${snapshotWithoutTexts} totalCount } activeSnapshot ${snapshotWithoutTexts} } }`
