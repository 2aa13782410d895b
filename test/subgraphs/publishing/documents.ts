const fields = `{ id brandId threadId position copy platform target { kind externalId name } status deliveryPhase scheduledAt waitsUntil publishedAt platformPostId permalink
  version createdAt updatedAt failure { code message failedAt attempts } waitsFor { id } author { id } connection { id } }`

export const post = `query($id: ID!) { post(id: $id) ${fields} }`
export const createPost = `mutation($input: CreatePostInput!) { createPost(input: $input) ${fields} }`
export const updatePost = `mutation($input: UpdatePostInput!) { updatePost(input: $input) ${fields} }`
export const reschedulePost = `mutation($input: ReschedulePostInput!) { reschedulePost(input: $input) ${fields} }`
export const deletePost = `mutation($input: DeletePostInput!) { deletePost(input: $input) ${fields} }`
export const publishPost = `mutation($input: PublishPostInput!) { publishPost(input: $input) ${fields} }`
export const cancelPost = `mutation($input: CancelPostInput!) { cancelPost(input: $input) ${fields} }`
export const resolveDelivery = `mutation($input: ResolveDeliveryInput!) { resolveDelivery(input: $input) ${fields} }`
export const connectIntegration = 'mutation($input: ConnectIntegrationInput!) { connectIntegration(input: $input) { authorizationUrl } }'
export const brand = `query($id: ID!) { brand(id: $id) { id name connections { id platform active accountName externalAccountId connectedAt inactiveReason author { id } } } }`
export const posts = `query($brandId: ID, $threadId: ID, $status: PostStatus, $platform: Platform, $authorId: ID, $scheduledAfter: DateTime, $scheduledBefore: DateTime,
    $first: Int, $after: String) {
  posts(brandId: $brandId, threadId: $threadId, status: $status, platform: $platform, authorId: $authorId, scheduledAfter: $scheduledAfter,
    scheduledBefore: $scheduledBefore, first: $first, after: $after) {
    nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`

const brandFields = '{ id organizationId name description archivedAt createdAt updatedAt version }'
export const createBrand = `mutation($input: CreateBrandInput!) { createBrand(input: $input) ${brandFields} }`
export const updateBrand = `mutation($input: UpdateBrandInput!) { updateBrand(input: $input) ${brandFields} }`
export const archiveBrand = `mutation($input: ArchiveBrandInput!) { archiveBrand(input: $input) ${brandFields} }`
export const restoreBrand = `mutation($input: RestoreBrandInput!) { restoreBrand(input: $input) ${brandFields} }`
export const brands = `query($archived: Boolean, $first: Int, $after: String) {
  brands(archived: $archived, first: $first, after: $after) { nodes ${brandFields} edges { cursor } pageInfo { hasNextPage endCursor } totalCount } }`
