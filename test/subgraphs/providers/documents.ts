export const fields = `{ id provider family level name baseUrl status testedAt testMessage lastUsedAt rotatedAt graceEndsAt createdAt version
  fields { name value masked } organization { id } }`

export const credential = `query($id: ID!) { credential(id: $id) ${fields} }`
export const createCredential = `mutation($input: CreateCredentialInput!) { createCredential(input: $input) ${fields} }`
export const updateCredential = `mutation($input: UpdateCredentialInput!) { updateCredential(input: $input) ${fields} }`
export const rotateCredential = `mutation($input: RotateCredentialInput!) { rotateCredential(input: $input) ${fields} }`
export const testCredential = `mutation($input: TestCredentialInput!) { testCredential(input: $input) ${fields} }`
export const credentialResolution = `query($provider: String!) { credentialResolution(provider: $provider) { provider level credential { id } } }`
export const deleteCredential = `mutation($input: DeleteCredentialInput!) { deleteCredential(input: $input) { id name } }`
export const credentials = `query($provider: String, $family: ProviderFamily, $level: ProviderLevel, $first: Int, $after: String) {
  credentials(provider: $provider, family: $family, level: $level, first: $first, after: $after) {
    nodes { id name } pageInfo { hasNextPage endCursor } totalCount } }`
