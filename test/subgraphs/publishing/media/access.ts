import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import {
  type AccessRows,
  accounts,
  byScope,
  change,
  type Fresh,
  type Ids,
  publicRoute,
  readPosts,
  row,
  type Stage,
  services,
  unrelated,
  writePosts,
  writers,
} from '../../../access/row.ts'
import { png } from './files.ts'
import { seedAsset, seedFolder } from './seed.ts'

async function seedUpload({ graph, ids }: Stage): Promise<string> {
  const { clock, job } = graph
  const now = clock.now()
  const upload = {
    id: newId(now),
    brandId: ids.brand!,
    filename: 'a.mp4',
    bytes: 10,
    expiresAt: clock.in(3_600_000),
    createdAt: now,
    updatedAt: now,
    createdBy: 'user:x',
  }
  return (await inTransaction(job, ({ transaction }) => job.mediaUploads.insert(upload, transaction))).id
}

/** What is asked of something that nobody has: it costs nothing, and calls nobody. */
const nobodys = '01900000-0000-7000-8000-000000000000'
const foundByNobody = 'refused hidden refused refused hidden hidden hidden'

const freshAsset: Fresh = async ({ graph, ids }) => (await seedAsset(graph, { brandId: ids.brand! })).id
const freshFolder: Fresh = async ({ graph, ids }) => (await seedFolder(graph, { brandId: ids.brand! })).id
const freshUpload: Fresh = stage => seedUpload(stage)

const assets = (field: string) => (ids: Ids) => `{ mediaAssets(brandId: "${ids.brand}") { ${field} } }`
const asset = (field: string) => (ids: Ids) => `{ mediaAsset(id: "${ids.asset}") { ${field} } }`

export const access: AccessRows = {
  async made(stage) {
    const { graph, ids, owner } = stage
    const { clock, job } = graph
    const now = clock.now()
    const by = { authorId: owner.userId }
    const folder = await freshFolder(stage)
    const { id: asset } = await seedAsset(graph, { brandId: ids.brand!, folderId: folder, ...by })
    const stamps = { createdAt: now, updatedAt: now, createdBy: 'user:x' }
    const image = { brandId: ids.brand!, id: newId(now), groupId: newId(now), prompt: 'x', model: 'm', assetId: asset, ...by, ...stamps }
    await inTransaction(job, async ({ transaction }) => {
      await job.generatedImages.insert(image, transaction)
      const variant = { brandId: ids.brand!, assetId: asset, platform: 'X', mimeType: 'image/png', width: 1, height: 1, bytes: 1, createdAt: now } as const
      await job.mediaVariants.keep(variant, transaction)
      const trend = {
        id: newId(now),
        topic: 'x',
        summary: 'x',
        source: null,
        url: null,
        score: null,
        observedAt: now.toISOString(),
        mentionsEarlierYear: false,
      }
      await job.trendReports.keep(ids.brand!, [trend], now, clock.in(3_600_000), transaction)
      const post = (await job.posts.lock(ids.post!, transaction))!
      await job.posts.update(post, { media: [{ assetId: asset, altText: null }] }, transaction)
    })
    return { asset, folder, image: image.id }
  },
  fields: [
    row('Query.mediaAsset', readPosts, accounts, byScope, asset('id'), 'mediaAsset'),
    row('Query.mediaAssets', readPosts, accounts, byScope, assets('nodes { id }'), 'mediaAssets'),
    row('Query.mediaFolders', readPosts, accounts, byScope, ({ brand }) => `{ mediaFolders(brandId: "${brand}") { id } }`, 'mediaFolders'),
    row('Query.generatedImages', readPosts, accounts, byScope, ({ brand }) => `{ generatedImages(brandId: "${brand}") { nodes { id } } }`, 'generatedImages'),
    row('Query.trends', readPosts, accounts, byScope, ({ brand }) => `{ trends(brandId: "${brand}") { fetchedAt } }`, 'trends'),
    row(
      'Mutation.updateMediaAsset',
      writePosts,
      readPosts,
      writers,
      change('updateMediaAsset', ({ fresh }) => `id: "${fresh}", title: "x"`, 'id'),
      'updateMediaAsset',
      freshAsset,
    ),
    row(
      'Mutation.deleteMediaAsset',
      writePosts,
      readPosts,
      writers,
      change('deleteMediaAsset', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'deleteMediaAsset',
      freshAsset,
    ),
    row(
      'Mutation.createMediaFolder',
      writePosts,
      readPosts,
      writers,
      change('createMediaFolder', ({ brand }) => `brandId: "${brand}", name: "x"`, 'id'),
      'createMediaFolder',
    ),
    row(
      'Mutation.updateMediaFolder',
      writePosts,
      readPosts,
      writers,
      change('updateMediaFolder', ({ fresh }) => `id: "${fresh}", name: "x"`, 'id'),
      'updateMediaFolder',
      freshFolder,
    ),
    row(
      'Mutation.deleteMediaFolder',
      writePosts,
      readPosts,
      writers,
      change('deleteMediaFolder', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'deleteMediaFolder',
      freshFolder,
    ),
    row(
      'Mutation.importMedia',
      writePosts,
      readPosts,
      foundByNobody,
      change('importMedia', ({ brand }) => `brandId: "${brand}", folderId: "${nobodys}", url: "http://127.0.0.1:9/x.png"`, 'id'),
      'importMedia',
    ),
    row(
      'Mutation.generateImages',
      writePosts,
      readPosts,
      foundByNobody,
      change('generateImages', ({ brand }) => `brandId: "${brand}", postId: "${nobodys}", prompt: "x"`, 'images { id }'),
      'generateImages',
    ),
    row(
      'Mutation.refreshTrends',
      writePosts,
      readPosts,
      foundByNobody,
      change('refreshTrends', () => `brandId: "${nobodys}"`, 'fetchedAt'),
      'refreshTrends',
    ),
    row(
      'GeneratedImageConnection.nodes',
      readPosts,
      accounts,
      byScope,
      ({ brand }) => `{ generatedImages(brandId: "${brand}") { nodes { id } } }`,
      'generatedImages.nodes',
    ),
    // Nothing is drawn here: whoever may have it drawn hears that there is no such post.
    row(
      'GeneratedImages.images',
      writePosts,
      readPosts,
      foundByNobody,
      change('generateImages', ({ brand }) => `brandId: "${brand}", postId: "${nobodys}", prompt: "x"`, 'images { id }'),
      'generateImages.images',
    ),
    row('PostMedia.asset', readPosts, accounts, byScope, ({ post }) => `{ post(id: "${post}") { media { asset { id } } } }`, 'post.media.asset'),
    row('MediaAsset.posts', readPosts, accounts, byScope, asset('posts { nodes { id } }'), 'mediaAsset.posts'),
    row('MediaAsset.folder', readPosts, accounts, byScope, asset('folder { id }'), 'mediaAsset.folder'),
    row('MediaAssetConnection.nodes', readPosts, accounts, byScope, assets('nodes { id }'), 'mediaAssets.nodes'),
  ],
  routes: [
    { at: 'GET /publishing/api/media', scopes: readPosts, less: accounts, cells: byScope, path: ({ brand }) => `/publishing/api/media?brandId=${brand}` },
    {
      at: 'POST /publishing/api/media',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ({ brand }) => `/publishing/api/media?brandId=${brand}`,
      headers: { 'content-type': 'image/png' },
      body: () => png(8, 8),
    },
    {
      at: 'POST /publishing/api/media/import',
      scopes: writePosts,
      less: readPosts,
      cells: foundByNobody,
      path: () => '/publishing/api/media/import',
      body: ({ brand }) => ({ brandId: brand, folderId: nobodys, url: 'http://127.0.0.1:9/x.png' }),
    },
    { at: 'GET /publishing/api/media/:id', scopes: readPosts, less: accounts, cells: byScope, path: ids => `/publishing/api/media/${ids.asset}` },
    {
      at: 'PUT /publishing/api/media/:id',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ids => `/publishing/api/media/${ids.fresh}`,
      body: () => ({ title: 'x' }),
      fresh: freshAsset,
    },
    {
      at: 'DELETE /publishing/api/media/:id',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ids => `/publishing/api/media/${ids.fresh}`,
      fresh: freshAsset,
    },
    {
      at: 'GET /publishing/api/media/folders',
      scopes: readPosts,
      less: accounts,
      cells: byScope,
      path: ({ brand }) => `/publishing/api/media/folders?brandId=${brand}`,
    },
    {
      at: 'POST /publishing/api/media/folders',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: () => '/publishing/api/media/folders',
      body: ({ brand }) => ({ brandId: brand, name: 'x' }),
    },
    {
      at: 'PUT /publishing/api/media/folders/:id',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ids => `/publishing/api/media/folders/${ids.fresh}`,
      body: () => ({ name: 'y' }),
      fresh: freshFolder,
    },
    {
      at: 'DELETE /publishing/api/media/folders/:id',
      scopes: writePosts,
      less: readPosts,
      cells: writers,
      path: ids => `/publishing/api/media/folders/${ids.fresh}`,
      fresh: freshFolder,
    },
    {
      at: 'POST /publishing/api/media/uploads',
      scopes: writePosts,
      less: readPosts,
      cells: foundByNobody,
      path: () => '/publishing/api/media/uploads',
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '10', 'upload-metadata': `brandId ${Buffer.from(nobodys).toString('base64')}` },
    },
    {
      at: '* /publishing/api/media/uploads/*',
      scopes: writePosts,
      less: readPosts,
      cells: foundByNobody,
      path: ids => `/publishing/api/media/uploads/${ids.fresh}`,
      headers: { 'tus-resumable': '1.0.0' },
      fresh: freshUpload,
    },
    {
      at: 'GET /publishing/media/:id/:variant',
      scopes: unrelated,
      less: unrelated,
      cells: publicRoute,
      path: ids => `/publishing/media/${ids.asset}/original`,
    },
    { at: 'GET /publishing/api/images', scopes: readPosts, less: accounts, cells: byScope, path: ({ brand }) => `/publishing/api/images?brandId=${brand}` },
    {
      at: 'POST /publishing/api/images',
      scopes: writePosts,
      less: readPosts,
      cells: foundByNobody,
      path: () => '/publishing/api/images',
      body: ({ brand }) => ({ brandId: brand, postId: nobodys, prompt: 'x' }),
    },
    {
      at: 'POST /publishing/api/internal/images',
      scopes: writePosts,
      less: readPosts,
      cells: services,
      path: () => '/publishing/api/internal/images',
      body: ({ brand }) => ({ brandId: brand, postId: nobodys, prompt: 'x' }),
    },
    { at: 'GET /publishing/api/trends', scopes: readPosts, less: accounts, cells: byScope, path: ({ brand }) => `/publishing/api/trends?brandId=${brand}` },
    {
      at: 'POST /publishing/api/trends/refresh',
      scopes: writePosts,
      less: readPosts,
      cells: foundByNobody,
      path: () => '/publishing/api/trends/refresh',
      body: () => ({ brandId: nobodys }),
    },
    {
      at: 'POST /publishing/api/internal/trends/refresh',
      scopes: writePosts,
      less: readPosts,
      cells: services,
      path: () => '/publishing/api/internal/trends/refresh',
      body: () => ({ brandId: nobodys }),
    },
  ],
}
