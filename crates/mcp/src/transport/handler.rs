//! Turns calls of the protocol into calls of tool sets, the library and prompts, and back. Nothing is
//! decided here: who asks was found out before, what they may do is decided behind.

use super::listen::Streams;
use super::writing::note_size;
use super::{Came, Offer, RELAYED};
use crate::resources::{Shown, TEMPLATE};
use crate::seam::{Asked, Effect, Outcome, ToolDefinition, asker};
use crate::trouble::Trouble;
use http::request::Parts;
use loci_engine::{Context, Error, as_one_request, damaged};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Extensions,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, SubscriptionFilter,
    Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long a tool may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(55);
/// Bytes of one resource of a listing, about.
const LISTED_BYTES: usize = 256;

/// One server. Cheap to clone: the library makes one for each request.
#[derive(Clone)]
pub(super) struct Face {
    pub(super) offer: Arc<Offer>,
    tools: Arc<Vec<Tool>>,
    pub(super) stopping: watch::Receiver<bool>,
    pub(super) streams: Streams,
}

impl Face {
    pub(super) fn new(offer: Offer, stopping: watch::Receiver<bool>) -> Self {
        let tools = offer.tools.iter().flat_map(|set| set.tools()).map(described).collect();
        let tools = Arc::new(tools);
        Self { offer: Arc::new(offer), tools, stopping, streams: Streams::default() }
    }

    async fn call(
        &self,
        name: &str,
        request: &CallToolRequestParams,
        parts: &Parts,
    ) -> Option<(Outcome, Option<String>)> {
        let has_it =
            |set: &&Arc<dyn crate::ToolSet>| set.tools().iter().any(|tool| tool.name == name);
        let set = self.offer.tools.iter().find(has_it)?;
        let nothing = serde_json::Map::new();
        let arguments = request.arguments.as_ref().unwrap_or(&nothing);
        let asked = Asked { name, arguments, extensions: &parts.extensions };
        let call = async { set.call(&asked).await.noting(damaged().len()) };
        let called = tokio::time::timeout(CALL_TIMEOUT, as_one_request(call));
        Some(called.await.unwrap_or_else(|_| {
            let why = "this took too long and was given up; it may have been done all the same";
            (Outcome::failed(why), None)
        }))
    }
}

impl ServerHandler for Face {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        if self.offer.library.is_some() {
            let capabilities = capabilities.resources.get_or_insert_default();
            capabilities.subscribe = Some(true);
            capabilities.list_changed = Some(true);
        }
        if !self.offer.prompts.is_empty() {
            capabilities.prompts = Some(Default::default());
        }
        let mut info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.offer.name, self.offer.version));
        info.instructions = self.offer.instructions.map(str::to_owned);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut info = self.negotiate_initialize(&request)?;
        let is_relayed = parts(&context.extensions)?.headers.contains_key(RELAYED);
        if let Some(resources) = info.capabilities.resources.as_mut().filter(|_| !is_relayed) {
            resources.subscribe = None;
            resources.list_changed = None;
        }
        Ok(info)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let parts = parts(&context.extensions)?;
        let Some((outcome, note)) = self.call(&request.name, &request, parts).await else {
            let shown: String = request.name.chars().take(64).collect();
            return Err(ErrorData::invalid_params(format!("unknown tool: {shown}"), None));
        };
        note_size(parts, outcome.text.len());
        // What is missing is said beside the answer, which may be JSON.
        let content = [Some(outcome.text), note].into_iter().flatten();
        let content = content.map(ContentBlock::text).collect();
        Ok(match outcome.is_error {
            true => CallToolResult::error(content).into(),
            false => CallToolResult::success(content).into(),
        })
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let shown = self.offer.prompts.iter().map(|prompt| {
            let arguments = prompt.arguments.iter().map(|argument| {
                PromptArgument::new(argument.name)
                    .with_description(argument.description)
                    .with_required(argument.default.is_none())
            });
            Prompt::new(prompt.name, Some(prompt.description), Some(arguments.collect()))
        });
        Ok(ListPromptsResult::with_all_items(shown.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let found = self.offer.prompts.iter().find(|prompt| prompt.name == request.name);
        let prompt = found.ok_or_else(|| ErrorData::invalid_params("unknown prompt", None))?;
        let text = prompt.fill(&request.arguments.unwrap_or_default());
        let text = text.map_err(|why| ErrorData::invalid_params(why, None))?;
        let mut filled = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        filled.description = Some(prompt.description.to_owned());
        Ok(filled.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let Some(library) = &self.offer.library else { return Ok(ListResourcesResult::default()) };
        let asker = caller(&context.extensions)?;
        let cursor = request.and_then(|request| request.cursor);
        let (shown, next) = as_one_request(library.list(&asker, cursor.as_deref()))
            .await
            .map_err(|trouble| refused(&trouble))?;
        note_size(parts(&context.extensions)?, shown.len() * LISTED_BYTES);
        let mut page = ListResourcesResult::with_all_items(shown.into_iter().map(listed).collect());
        page.next_cursor = next;
        Ok(page)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if self.offer.library.is_none() {
            return Ok(ListResourceTemplatesResult::default());
        }
        let template = ResourceTemplate::new(TEMPLATE, "memory").with_description(
            "A memory, by its store (an id, a name, or home for your own) and its path.",
        );
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(library) = &self.offer.library else {
            return Err(ErrorData::resource_not_found("there are no resources", None));
        };
        let asker = caller(&context.extensions)?;
        let read = as_one_request(library.read(&asker, &request.uri)).await;
        let (text, mime_type) = read.map_err(|trouble| refused(&trouble))?;
        note_size(parts(&context.extensions)?, text.len());
        let contents = ResourceContents::text(text, request.uri).with_mime_type(mime_type);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.offer.library.as_ref()?;
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(library) = &self.offer.library else { return Ok(()) };
        let extensions = &context.request_context().extensions;
        let asker = caller(extensions)?;
        // The client was told that it is subscribed before this is called.
        let came = parts(extensions)?.extensions.get::<Came>();
        let since = came.map_or_else(|| library.now(), |came| came.0);
        self.follow(library, &asker, since, &context).await
    }
}

/// The HTTP request that a message came in.
fn parts(extensions: &Extensions) -> Result<&Parts, ErrorData> {
    let found = extensions.get::<Parts>();
    found.ok_or_else(|| ErrorData::internal_error("the request is not there", None))
}

fn caller(extensions: &Extensions) -> Result<Context, ErrorData> {
    asker(&parts(extensions)?.extensions).map_err(|error| refused(&error.into()))
}

/// What a trouble outside of tools is on the wire.
pub(super) fn refused(trouble: &Trouble) -> ErrorData {
    let text = trouble.to_string();
    match trouble {
        Trouble::Engine(Error::NotFound(_)) => ErrorData::resource_not_found(text, None),
        Trouble::Engine(Error::Internal(_) | Error::Unavailable(_)) => {
            ErrorData::internal_error(text, None)
        }
        Trouble::Engine(_) | Trouble::Call(_) => ErrorData::invalid_params(text, None),
    }
}

fn described(tool: ToolDefinition) -> Tool {
    let ToolDefinition { name, description, input_schema, effect } = tool;
    let (reads, destroys, repeats) = match effect {
        Effect::Reads => (true, false, true),
        Effect::Adds => (false, false, false),
        Effect::Edits => (false, true, false),
        Effect::Sets => (false, true, true),
    };
    let annotations =
        ToolAnnotations::from_raw(None, Some(reads), Some(destroys), Some(repeats), Some(false));
    Tool::new(name, description, Arc::new(input_schema)).with_annotations(annotations)
}

fn listed(shown: Shown) -> Resource {
    let mut resource =
        Resource::new(shown.uri, shown.name).with_mime_type(shown.mime_type).with_size(shown.size);
    resource.description = shown.description;
    resource
}
