//! SAM's events: an `SQS` event is a mapping, and an `SNS` event with `SqsSubscription` is a mapping with a queue that the
//! template does not show.

use super::Template;
use super::builder::{Builder, Pending};
use crate::engine::deployment::Setting;
use crate::engine::fact::{Fact, Source};
use crate::sources::iac::value::{Traced, Value};
use crate::sources::tree::Node;

impl Builder {
    /// The events of a function that read queues.
    pub(super) fn events(&mut self, template: &Template<'_>, function: &Node, properties: Option<&Node>) {
        let name = function.text().unwrap_or_default();
        let function_id = format!("{}{name}", template.prefix);
        let target = || {
            let value = Value::Attribute { resource: function_id.clone(), attribute: "Arn".to_owned() };
            Fact::new(value, Source::Written(template.place(function)))
        };
        let events = properties.and_then(|properties| properties.get("Events")).map(Node::entries).unwrap_or_default();
        for (key, event) in events {
            let settings = event.get("Properties");
            match event.get("Type").and_then(Node::text) {
                Some("SQS") => {
                    let Some((source, source_place)) = template.property(settings, "Queue") else { continue };
                    let mapping = Self::mapping_of(template, settings, template.place(key));
                    self.add_pending(Pending { mapping, source, function: target(), source_place });
                }
                Some("SNS") => {
                    let Some((subscription, value)) = settings.and_then(|settings| settings.entry("SqsSubscription")) else {
                        continue;
                    };
                    // The queue of a FIFO topic is one too (SAM's translator, events of SNS).
                    let topic = template.property(settings, "Topic").map(|(topic, _)| topic.value);
                    let fifo = match topic {
                        Some(Value::Attribute { resource, .. }) => resource
                            .strip_prefix(&template.prefix)
                            .and_then(|topic| template.resource(topic)?.get("Properties"))
                            .map(|topic| template.boolean(Some(topic), "FifoTopic")),
                        _ => None,
                    };
                    self.subscription(template, name, key, (subscription, value), target(), fifo.unwrap_or_default());
                }
                _ => {}
            }
        }
    }

    fn subscription(
        &mut self,
        template: &Template<'_>,
        function: &str,
        event: &Node,
        (subscription, value): (&Node, &Node),
        target: Traced,
        fifo: Setting<bool>,
    ) {
        let place = template.place(subscription);
        // An object says more of the queue and the mapping; `true` leaves all to SAM.
        let settings = (!value.entries().is_empty()).then_some(value);
        if settings.is_none() && template.eval(value).value.boolean() != Some(true) {
            return;
        }
        let mapping = Self::mapping_of(template, settings, place.clone());
        if let Some((source, source_place)) = template.property(settings, "QueueArn") {
            self.add_pending(Pending { mapping, source, function: target, source_place });
            return;
        }
        let name = format!("{function}{}Queue", event.text().unwrap_or_default());
        let id = format!("{}{name}", template.prefix);
        self.hidden_queue(id.clone(), name, place.clone(), fifo);
        let source = Value::Attribute { resource: id, attribute: "Arn".to_owned() };
        let source = Fact::new(source, Source::Written(place.clone()));
        self.add_pending(Pending { mapping, source, function: target, source_place: place });
    }
}
